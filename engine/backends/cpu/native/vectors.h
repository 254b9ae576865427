// Vectors of the instruction set being compiled for, by the compiler's vector extension (GCC, Clang): no intrinsics.

#pragma once
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

INLINE Vector load(const float *from) { return *(const VectorInMemory *)from; }
INLINE void store(float *to, Vector value) { *(VectorInMemory *)to = value; }
INLINE Vector splat(float value) { return value - (Vector){0}; }

/** The lanes of `a` where the mask is set, else those of `b`. */
INLINE Vector choose(IntVector mask, Vector a, Vector b) {
  return (Vector)((mask & (IntVector)a) | (~mask & (IntVector)b));
}

/** Where a is not a number, neither is the result: training that has gone wrong has to show. */
INLINE Vector largest(Vector a, Vector b) { return choose(a < b, b, a); }
INLINE Vector smallest(Vector a, Vector b) { return choose(a > b, b, a); }
INLINE Vector magnitude(Vector x) { return (Vector)((IntVector)x & 0x7fffffff); }
INLINE Vector with_sign(Vector size, Vector sign) {
  return (Vector)(((IntVector)sign & (int32_t)0x80000000) | (IntVector)size);
}
