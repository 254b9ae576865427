// Winograd's minimal filtering F(4×4, 3×3): a tile of 4 × 4 results of a 3 × 3 convolution out of 6 × 6 products instead of 144
// multiplications. The transforms of one line (Lavin and Gray 2015, "Fast Algorithms for Convolutional Neural Networks"), and the
// transposition between images, whose pixels lie side by side, and vectors, whose lanes are channels.

#pragma once
#include "vectors.h"

/** Elements of a transformed tile along a side, and results. */
#define SIDE 6
#define STEP 4
#define POINTS (SIDE * SIDE)

/**
 * The polynomials are evaluated at 0, ±A, ±B and infinity. These points are exact in binary and round less than the usual ±1, ±2:
 * errors are about twice those of a direct sum, instead of five times.
 */
#define A 0.625f
#define B 1.5f
#define AA (A * A)
#define BB (B * B)
/** Divisors of the weights' transform: products of the distances between points. */
#define AT_ZERO (1 / (AA * BB))
#define AT_A (1 / (2 * AA * (AA - BB)))
#define AT_B (1 / (2 * BB * (BB - AA)))

/** v = Bᵀ·d: six elements of an image. */
INLINE void transform_image(const Vector *d, Vector *v) {
  const Vector even_a = d[4] - d[2] * BB, odd_a = d[3] * A - d[1] * (A * BB);
  const Vector even_b = d[4] - d[2] * AA, odd_b = d[3] * B - d[1] * (B * AA);
  v[0] = d[4] - d[2] * (AA + BB) + d[0] * (AA * BB);
  v[1] = even_a + odd_a;
  v[2] = even_a - odd_a;
  v[3] = even_b + odd_b;
  v[4] = even_b - odd_b;
  v[5] = d[5] - d[3] * (AA + BB) + d[1] * (AA * BB);
}

/** y = Aᵀ·m: four results. */
INLINE void finish_results(const Vector *m, Vector *y) {
  const Vector even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
  y[0] = m[0] + (even_a + even_b);
  y[1] = odd_a * A + odd_b * B;
  y[2] = even_a * AA + even_b * BB;
  y[3] = m[5] + (odd_a * (A * AA) + odd_b * (B * BB));
}

/** A·g: the transposed of finish_results, for four gradients of results. */
INLINE void transform_gradient(const Vector *g, Vector *m) {
  const Vector even_a = g[0] + g[2] * AA, odd_a = g[1] * A + g[3] * (A * AA);
  const Vector even_b = g[0] + g[2] * BB, odd_b = g[1] * B + g[3] * (B * BB);
  m[0] = g[0];
  m[1] = even_a + odd_a;
  m[2] = even_a - odd_a;
  m[3] = even_b + odd_b;
  m[4] = even_b - odd_b;
  m[5] = g[3];
}

/** u = G·w: three weights. */
INLINE void transform_weights(const Vector *w, Vector *u) {
  const Vector even_a = w[0] * AT_A + w[2] * (AA * AT_A), odd_a = w[1] * (A * AT_A);
  const Vector even_b = w[0] * AT_B + w[2] * (BB * AT_B), odd_b = w[1] * (B * AT_B);
  u[0] = w[0] * AT_ZERO;
  u[1] = even_a + odd_a;
  u[2] = even_a - odd_a;
  u[3] = even_b + odd_b;
  u[4] = even_b - odd_b;
  u[5] = w[2];
}

/** Gᵀ·u: the transposed of transform_weights, for the gradients of three weights. */
INLINE void finish_weights(const Vector *u, Vector *w) {
  const Vector even_a = (u[1] + u[2]) * AT_A, odd_a = (u[1] - u[2]) * AT_A;
  const Vector even_b = (u[3] + u[4]) * AT_B, odd_b = (u[3] - u[4]) * AT_B;
  w[0] = u[0] * AT_ZERO + (even_a + even_b);
  w[1] = odd_a * A + odd_b * B;
  w[2] = even_a * AA + even_b * BB + u[5];
}

#undef A
#undef B

#if LANES == 16
#define QUARTERS(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, d + 12
#elif LANES == 8
#define QUARTERS(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4
#else
#define QUARTERS(a, b, c, d) a, b, c, d
#endif

/** Transposes a square of LANES vectors: within blocks of 4 × 4 first, then the blocks. */
INLINE void transpose_square(Vector *rows) {
#pragma GCC unroll 4
  for (int i = 0; i < LANES; i += 4) {
    const Vector low01 = MIX(IntVector, rows[i], rows[i + 1], QUARTERS(0, LANES, 1, LANES + 1));
    const Vector high01 = MIX(IntVector, rows[i], rows[i + 1], QUARTERS(2, LANES + 2, 3, LANES + 3));
    const Vector low23 = MIX(IntVector, rows[i + 2], rows[i + 3], QUARTERS(0, LANES, 1, LANES + 1));
    const Vector high23 = MIX(IntVector, rows[i + 2], rows[i + 3], QUARTERS(2, LANES + 2, 3, LANES + 3));
    rows[i] = MIX(IntVector, low01, low23, QUARTERS(0, 1, LANES, LANES + 1));
    rows[i + 1] = MIX(IntVector, low01, low23, QUARTERS(2, 3, LANES + 2, LANES + 3));
    rows[i + 2] = MIX(IntVector, high01, high23, QUARTERS(0, 1, LANES, LANES + 1));
    rows[i + 3] = MIX(IntVector, high01, high23, QUARTERS(2, 3, LANES + 2, LANES + 3));
  }
#if LANES == 16
#define EVEN_BLOCKS(a, b) MIX(IntVector, a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD_BLOCKS(a, b) MIX(IntVector, a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    const Vector even01 = EVEN_BLOCKS(rows[i], rows[i + 4]), odd01 = ODD_BLOCKS(rows[i], rows[i + 4]);
    const Vector even23 = EVEN_BLOCKS(rows[i + 8], rows[i + 12]), odd23 = ODD_BLOCKS(rows[i + 8], rows[i + 12]);
    rows[i] = EVEN_BLOCKS(even01, even23);
    rows[i + 4] = EVEN_BLOCKS(odd01, odd23);
    rows[i + 8] = ODD_BLOCKS(even01, even23);
    rows[i + 12] = ODD_BLOCKS(odd01, odd23);
  }
#elif LANES == 8
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    const Vector low = MIX(IntVector, rows[i], rows[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = MIX(IntVector, rows[i], rows[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    rows[i] = low;
  }
#endif
}
