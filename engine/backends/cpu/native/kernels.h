// What the native kernels and the addon agree on. kernels.c is compiled once for each instruction set; every copy exports
// one table. Operands are byte offsets into the arena; arguments stand in the order of the kernel's contract.

#pragma once
#include <stddef.h>
#include <stdint.h>

/** Floats of scratch memory a thread has, and those of them for tiles and products of Winograd's: ../layout.ts, by the build. */
#if !defined(SCRATCH_FLOATS) || !defined(POINT_TILES) || !defined(CACHED_TILES)
#error "compile with scripts/build-native.ts"
#endif

typedef struct {
  uint8_t *memory;
  const uint32_t *args;
  int thread;
  int threads;
  int step;
  /** This thread's own, 64-byte aligned. */
  float *scratch;
  /** Whether 3 × 3 convolutions may go by Winograd's transforms. */
  int winograd;
} Call;

typedef void (*Kernel)(const Call *call);

typedef struct {
  const char *name;
  Kernel run;
} NamedKernel;

typedef struct {
  /** For people: `AVX-512`. */
  const char *instructions;
  int count;
  const NamedKernel *kernels;
  /** Multiply-adds in registers alone, for measuring what this CPU can do: floating-point operations that were done in so many rounds. */
  double (*multiply_adds)(int rounds);
} KernelTable;

/** An operand's address, or NULL if it is absent. */
static inline float *operand(const Call *call, int index) {
  const uint32_t offset = call->args[index];
  return offset ? (float *)(call->memory + offset) : NULL;
}

static inline int integer(const Call *call, int index) { return (int)call->args[index]; }

static inline float real(const Call *call, int index) {
  float value;
  __builtin_memcpy(&value, &call->args[index], 4);
  return value;
}

static inline int smaller(int a, int b) { return a < b ? a : b; }

/** Where the share of a thread begins when `count` items are shared in blocks of `grain`; it ends where the next begins. */
static inline int share_start(int count, int grain, int thread, int threads) {
  const int blocks = (count + grain - 1) / grain;
  return smaller(count, (int)((int64_t)blocks * thread / threads) * grain);
}
