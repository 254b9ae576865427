// float64 functions of trees, by plain multiplications and additions in one order: the same bits as kernels/shared/tree_math.ts.

#pragma once
#include "vectors.h"
#include <math.h>

INLINE uint64_t bits_of(double x) {
  uint64_t word;
  memcpy(&word, &x, 8);
  return word;
}

INLINE double of_bits(uint64_t word) {
  double x;
  memcpy(&x, &word, 8);
  return x;
}

INLINE double larger(double a, double b) { return b > a ? b : a; }
INLINE double lesser(double a, double b) { return b < a ? b : a; }
INLINE double absolute(double x) { return of_bits(bits_of(x) & 0x7fffffffffffffffull); }

/** eˣ for x of −708 … 709, which others count as: x = k·ln 2 + r, and Taylor's series up to r¹³ (2⁻⁵⁷ is left out). */
INLINE double exponential(double x) {
  const double bounded = lesser(709, larger(-708, x));
  const double shifted = bounded * 1.4426950408889634 + 0x1.8p52;
  const double k = shifted - 0x1.8p52;
  const double r = bounded - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return of_bits(bits_of(p) + (bits_of(shifted) << 52));
}

/** ln x of a normal x > 0: x = 2ᵉ·m, m within √½ … √2, and the series of artanh (m − 1)/(m + 1). */
INLINE double logarithm(double x) {
  const uint64_t word = bits_of(x);
  const double m0 = of_bits((word & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  const double e0 = of_bits((word >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023);
  const int upper = m0 > 1.4142135623730951;
  const double m = upper ? 0.5 * m0 : m0, e = upper ? e0 + 1 : e0;
  const double z = (m - 1) / (m + 1), w = z * z;
  double p = 1.0 / 23.0;
  p = p * w + 1.0 / 21.0;
  p = p * w + 1.0 / 19.0;
  p = p * w + 1.0 / 17.0;
  p = p * w + 1.0 / 15.0;
  p = p * w + 1.0 / 13.0;
  p = p * w + 1.0 / 11.0;
  p = p * w + 1.0 / 9.0;
  p = p * w + 1.0 / 7.0;
  p = p * w + 0.2;
  p = p * w + 1.0 / 3.0;
  p = p * w + 1.0;
  return e * 0.6931471805599453 + 2 * z * p;
}
