// Vectors of the instruction set being compiled for, by the compiler's vector extension (GCC, Clang): no intrinsics.

#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef int32_t IntVector __attribute__((vector_size(4 * LANES)));
/** The same in memory, where it is aligned like a float only. */
typedef float VectorInMemory __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float Four __attribute__((vector_size(16)));
typedef int32_t FourIntegers __attribute__((vector_size(16)));
typedef float FourInMemory __attribute__((vector_size(16), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

/** Lanes of a (0, 1, …) and of b (counted on) in the order listed; `Indices` is the type of as many int32. */
#if defined(__clang__)
#define MIX(Indices, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(Indices, a, b, ...) __builtin_shuffle(a, b, (Indices){__VA_ARGS__})
#endif

/**
 * Lanes of two vectors: a₀ b₀ a₁ b₁ … of their lower and upper halves; every other one of both, from the first or second on;
 * the last of a and all but the last of b; all but the first of a and the first of b.
 */
#if LANES == 16
#define LOW_PAIRS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_PAIRS 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LAST_FIRST 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define SECOND_NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#elif LANES == 8
#define LOW_PAIRS 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_PAIRS 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15
#define LAST_FIRST 7, 8, 9, 10, 11, 12, 13, 14
#define SECOND_NEXT 1, 2, 3, 4, 5, 6, 7, 8
#else
#define LOW_PAIRS 0, 4, 1, 5
#define HIGH_PAIRS 2, 6, 3, 7
#define EVEN_LANES 0, 2, 4, 6
#define ODD_LANES 1, 3, 5, 7
#define LAST_FIRST 3, 4, 5, 6
#define SECOND_NEXT 1, 2, 3, 4
#endif

INLINE Vector load(const float *from) { return *(const VectorInMemory *)from; }
INLINE void store(float *to, Vector value) { *(VectorInMemory *)to = value; }

/**
 * Bytes of a result from which it is written past the caches: whoever reads it next would not find its beginning there, and a line
 * that is written as a whole need not be read first.
 */
#define STREAMED_BYTES (32 << 20)
INLINE int goes_past_caches(ptrdiff_t floats) { return floats * (ptrdiff_t)sizeof(float) >= STREAMED_BYTES; }

/** A store past the caches, to a multiple of the vector's size. `end_streams` comes before others may read what was stored so. */
#if defined(__x86_64__) && defined(__clang__)
INLINE void stream(float *to, Vector value) { __builtin_nontemporal_store(value, (Vector *)to); }
#elif LANES == 16
INLINE void stream(float *to, Vector value) { __builtin_ia32_movntps512(to, value); }
#elif LANES == 8
INLINE void stream(float *to, Vector value) { __builtin_ia32_movntps256(to, value); }
#else
INLINE void stream(float *to, Vector value) { store(to, value); }
#endif
INLINE void end_streams(void) {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

/** Floats from `to` to the next line of the caches, at most `count`. */
INLINE int floats_to_line(const float *to, int count) {
  const int left = (int)(-((uintptr_t)to / sizeof(float)) & 15);
  return left < count ? left : count;
}

/** Up to LANES elements as a vector, the others 0. */
INLINE Vector load_lanes(const float *from, int count) {
  float lanes[LANES] = {0};
  if (count >= LANES) return load(from);
  memcpy(lanes, from, 4 * (size_t)count);
  return load(lanes);
}

INLINE void store_lanes(float *to, Vector value, int count) {
  if (count >= LANES) store(to, value);
  else memcpy(to, &value, 4 * (size_t)count);
}

INLINE Vector splat(float value) { return value - (Vector){0}; }

/** The lanes of `a` where the mask is set, else those of `b`. */
INLINE Vector choose(IntVector mask, Vector a, Vector b) {
  return (Vector)((mask & (IntVector)a) | (~mask & (IntVector)b));
}

/** Where a is not a number, neither is the result: training that has gone wrong has to show. GCC does not see the one instruction. */
#if defined(__x86_64__) && !defined(__clang__) && LANES == 16
INLINE Vector largest(Vector a, Vector b) { return __builtin_ia32_maxps512_mask(b, a, a, (int16_t)-1, 4); }
INLINE Vector smallest(Vector a, Vector b) { return __builtin_ia32_minps512_mask(b, a, a, (int16_t)-1, 4); }
#elif defined(__x86_64__) && !defined(__clang__) && LANES == 8
INLINE Vector largest(Vector a, Vector b) { return __builtin_ia32_maxps256(b, a); }
INLINE Vector smallest(Vector a, Vector b) { return __builtin_ia32_minps256(b, a); }
#else
INLINE Vector largest(Vector a, Vector b) { return choose(a < b, b, a); }
INLINE Vector smallest(Vector a, Vector b) { return choose(a > b, b, a); }
#endif
INLINE Vector magnitude(Vector x) { return (Vector)((IntVector)x & 0x7fffffff); }
INLINE Vector with_sign(Vector size, Vector sign) {
  return (Vector)(((IntVector)sign & (int32_t)0x80000000) | (IntVector)size);
}

/** Elements 0, 2, … and 1, 3, … of the 2·LANES at `from`. */
INLINE void split_pairs(const float *from, Vector *even, Vector *odd) {
  const Vector low = load(from), high = load(from + LANES);
  *even = MIX(IntVector, low, high, EVEN_LANES);
  *odd = MIX(IntVector, low, high, ODD_LANES);
}

/** The other way round. */
INLINE void join_pairs(Vector even, Vector odd, float *to) {
  store(to, MIX(IntVector, even, odd, LOW_PAIRS));
  store(to + LANES, MIX(IntVector, even, odd, HIGH_PAIRS));
}
