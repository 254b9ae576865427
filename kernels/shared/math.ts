// AssemblyScript: exponential, logarithm, tanh and the normal distribution on four float32 lanes. Polynomials were fitted
// for the smallest largest error on the reduced range; the bounds stated are of the whole function in float32 and are
// checked by tests/unit/kernels-math.test.ts. NaN in, NaN out (but for `log`).

/** a·b + c, rounded once where the machine can. */
@inline
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return f32x4.relaxed_madd(a, b, c);
}

/** e^x within 1.5e-7 relative, from 2^−126 to 2^127.5: x is held between −87.336 and 88.376, so nothing overflows. */
@inline
export function exp(x: v128): v128 {
  const held = f32x4.min(f32x4.max(x, f32x4.splat(-87.336)), f32x4.splat(88.376));
  // x = n·ln 2 + r, |r| ≤ ln 2 / 2; ln 2 in two parts, the first with few enough bits for an exact product.
  const n = f32x4.nearest(f32x4.mul(held, f32x4.splat(1.44269504)));
  let r = f32x4.sub(held, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.12194440e-4)));
  // e^r = 1 + r + r²·P(r)
  let p = f32x4.splat(0.00138131424);
  p = multiplyAdd(p, r, f32x4.splat(0.00836941879));
  p = multiplyAdd(p, r, f32x4.splat(0.04166845605));
  p = multiplyAdd(p, r, f32x4.splat(0.16666515172));
  p = multiplyAdd(p, r, f32x4.splat(0.4999999404));
  p = f32x4.add(f32x4.splat(1), multiplyAdd(f32x4.mul(p, r), r, r));
  return f32x4.mul(p, powerOfTwo(n));
}

/** 2^n for whole n in −126 … 127. */
@inline
function powerOfTwo(n: v128): v128 {
  return i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
}

/** ln x for positive normal x, within 2e-7 · max(1, |ln x|). */
@inline
export function log(x: v128): v128 {
  // x = 2^n · m with m in [1/√2, √2): move the exponent so that it counts from 1/√2.
  const offset = i32x4.sub(x, i32x4.splat(0x3f3504f3));
  const n = i32x4.shr_s(offset, 23);
  const m = i32x4.sub(x, i32x4.shl(n, 23));
  const f = f32x4.sub(m, f32x4.splat(1));
  // ln m = 2·artanh(f/(2 + f)); the series up to s⁹ leaves less than 2e-9.
  const s = f32x4.div(f, f32x4.add(f, f32x4.splat(2)));
  const square = f32x4.mul(s, s);
  let p = f32x4.splat(<f32>(2.0 / 9.0));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 7.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 5.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 3.0)));
  p = multiplyAdd(p, square, f32x4.splat(2));
  return multiplyAdd(f32x4.convert_i32x4_s(n), f32x4.splat(0.6931471806), f32x4.mul(p, s));
}

/** ln(1 + x) for x in [0, 1], within 3e-7 relative: small x keep their digits. */
@inline
export function logOnePlus(x: v128): v128 {
  // 2·artanh(x/(2 + x)), where the quotient is at most 1/3: the series up to s¹⁵ leaves less than 1e-8.
  const s = f32x4.div(x, f32x4.add(x, f32x4.splat(2)));
  const square = f32x4.mul(s, s);
  let p = f32x4.splat(<f32>(2.0 / 15.0));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 13.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 11.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 9.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 7.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 5.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(2.0 / 3.0)));
  p = multiplyAdd(p, square, f32x4.splat(2));
  return f32x4.mul(p, s);
}

/** tanh x within 4e-7 relative. */
@inline
export function tanh(x: v128): v128 {
  // Near 0: x + x³·P(x²), for |x| < 0.63. Elsewhere 1 − 2/(1 + e^2|x|) with the sign of x.
  const square = f32x4.mul(x, x);
  let p = f32x4.splat(-0.00566078071);
  p = multiplyAdd(p, square, f32x4.splat(0.020602));
  p = multiplyAdd(p, square, f32x4.splat(-0.05372922867));
  p = multiplyAdd(p, square, f32x4.splat(0.13331328332));
  p = multiplyAdd(p, square, f32x4.splat(-0.33333277702));
  const near = multiplyAdd(f32x4.mul(p, square), x, x);
  const magnitude = f32x4.abs(x);
  const growth = f32x4.add(f32x4.splat(1), exp(f32x4.add(magnitude, magnitude)));
  const size = f32x4.sub(f32x4.splat(1), f32x4.div(f32x4.splat(2), growth));
  const far = v128.bitselect(x, size, i32x4.splat(0x80000000));
  return v128.bitselect(near, far, f32x4.lt(magnitude, f32x4.splat(0.63)));
}

/** sin 2πx within 3e-7, for |x| below 2²²: whole turns are taken off exactly. */
@inline
export function sineOfTurns(x: v128): v128 {
  const turn = f32x4.sub(x, f32x4.nearest(x));
  // In −1/2 … 1/2; beyond a quarter the sine comes back: sin 2πr = sin 2π(1/2 − r).
  const size = f32x4.abs(turn);
  const folded = f32x4.min(size, f32x4.sub(f32x4.splat(0.5), size));
  const z = f32x4.mul(v128.bitselect(turn, folded, i32x4.splat(0x80000000)), f32x4.splat(6.2831853072));
  const square = f32x4.mul(z, z);
  let p = f32x4.splat(<f32>(-1.0 / 39916800.0));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(1.0 / 362880.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(-1.0 / 5040.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(1.0 / 120.0)));
  p = multiplyAdd(p, square, f32x4.splat(<f32>(-1.0 / 6.0)));
  return multiplyAdd(f32x4.mul(p, square), z, z);
}

/** 1/(1 + e^−x) within 3e-7 relative. */
@inline
export function sigmoid(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))));
}

/** e^(−x²/2), which the distribution function and the density of the normal distribution share. */
@inline
export function gaussian(x: v128): v128 {
  return exp(f32x4.mul(f32x4.mul(x, x), f32x4.splat(-0.5)));
}

/** The normal distribution function Φ(x) = (1 + erf(x/√2))/2 within 2e-7, given gaussian(x). */
@inline
export function normalDistribution(x: v128, gaussianOfX: v128): v128 {
  // 1 − Φ(|x|) = e^(−x²/2)·t·P(t), t = 1/(1 + 0.3·|x|)
  const t = f32x4.div(f32x4.splat(1), multiplyAdd(f32x4.abs(x), f32x4.splat(0.3), f32x4.splat(1)));
  let p = f32x4.splat(0.01907203533);
  p = multiplyAdd(p, t, f32x4.splat(-0.06798557192));
  p = multiplyAdd(p, t, f32x4.splat(0.00311250447));
  p = multiplyAdd(p, t, f32x4.splat(0.20076882839));
  p = multiplyAdd(p, t, f32x4.splat(-0.06056414917));
  p = multiplyAdd(p, t, f32x4.splat(0.18339471519));
  p = multiplyAdd(p, t, f32x4.splat(0.10048208386));
  p = multiplyAdd(p, t, f32x4.splat(0.12171955407));
  const tail = f32x4.mul(f32x4.mul(p, t), gaussianOfX);
  return v128.bitselect(tail, f32x4.sub(f32x4.splat(1), tail), f32x4.lt(x, f32x4.splat(0)));
}
