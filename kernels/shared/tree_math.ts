// AssemblyScript: float64 functions of trees, by plain multiplications and additions in one order: the same bits as
// engine/backends/cpu/native/tree_math.h.

/** Positions of a list, or rows, that one thread takes at a time. */
export const BLOCK = 4096;

/** Address of the float64 at `index`. */
@inline
export function at64(base: usize, index: i32): usize {
  return base + ((<usize>index) << 3);
}

@inline
export function blocksOf(count: i32): i32 {
  return (count + BLOCK - 1) / BLOCK;
}

@inline
export function larger(a: f64, b: f64): f64 {
  return b > a ? b : a;
}

@inline
export function lesser(a: f64, b: f64): f64 {
  return b < a ? b : a;
}

/** eˣ for x of −708 … 709, which others count as: x = k·ln 2 + r, and Taylor's series up to r¹³. */
export function exponential(x: f64): f64 {
  const bounded = lesser(709, larger(-708, x));
  const shifted = bounded * 1.4426950408889634 + 6755399441055744.0;
  const k = shifted - 6755399441055744.0;
  const r = bounded - k * 0.69314718036912381649 - k * 1.90821492927058770002e-10;
  let p: f64 = 1.0 / 6227020800.0;
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
  return reinterpret<f64>(reinterpret<u64>(p) + (reinterpret<u64>(shifted) << 52));
}

/** ln x of a normal x > 0: x = 2ᵉ·m, m within √½ … √2, and the series of artanh (m − 1)/(m + 1). */
export function logarithm(x: f64): f64 {
  const word = reinterpret<u64>(x);
  const m0 = reinterpret<f64>((word & 0xfffffffffffff) | 0x3ff0000000000000);
  const e0 = <f64>(<i32>(word >> 52)) - 1023;
  const upper = m0 > 1.4142135623730951;
  const m = upper ? 0.5 * m0 : m0;
  const e = upper ? e0 + 1 : e0;
  const z = (m - 1) / (m + 1);
  const w = z * z;
  let p: f64 = 1.0 / 23.0;
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
