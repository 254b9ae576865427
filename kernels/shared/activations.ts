// AssemblyScript: the activations and their derivatives on four float32 lanes. Called with a constant code within a loop,
// the switch folds away. Codes are those of kernels/activations.ts.

import { exp, gaussian, multiplyAdd, normalDistribution, sigmoid, tanh } from './math';

export const NONE = 0;
export const RELU = 1;
export const LEAKY_RELU = 2;
export const GELU = 3;
export const SILU = 4;
export const TANH = 5;
export const SIGMOID = 6;

/** 1/√(2π) */
const DENSITY_AT_ZERO: f32 = 0.3989422804;

/** f(x); `slope` is the negative slope of leaky_relu. */
@inline
export function activate(code: i32, x: v128, slope: v128): v128 {
  const zero = f32x4.splat(0);
  switch (code) {
    case RELU:
      return f32x4.max(x, zero);
    case LEAKY_RELU:
      return v128.bitselect(x, f32x4.mul(x, slope), f32x4.gt(x, zero));
    case GELU:
      return f32x4.mul(x, normalDistribution(x, gaussian(x)));
    case SILU:
      return f32x4.mul(x, sigmoid(x));
    case TANH:
      return tanh(x);
    case SIGMOID:
      return sigmoid(x);
    default:
      return x;
  }
}

/** f′(x) from the input x. */
@inline
export function derivative(code: i32, x: v128, slope: v128): v128 {
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  switch (code) {
    case RELU:
      return v128.and(one, f32x4.gt(x, zero));
    case LEAKY_RELU:
      return v128.bitselect(one, slope, f32x4.gt(x, zero));
    case GELU: {
      const shared = gaussian(x);
      const density = f32x4.mul(shared, f32x4.splat(DENSITY_AT_ZERO));
      return multiplyAdd(x, density, normalDistribution(x, shared));
    }
    case SILU: {
      const s = sigmoid(x);
      return f32x4.mul(s, multiplyAdd(x, f32x4.sub(one, s), one));
    }
    case TANH: {
      // 1 − tanh² = 4e/(1 + e)², e = e^(−2|x|): no cancellation in the tails.
      const e = exp(f32x4.mul(f32x4.abs(x), f32x4.splat(-2)));
      const denominator = f32x4.add(one, e);
      return f32x4.div(f32x4.mul(e, f32x4.splat(4)), f32x4.mul(denominator, denominator));
    }
    case SIGMOID: {
      const e = exp(f32x4.neg(f32x4.abs(x)));
      const denominator = f32x4.add(one, e);
      return f32x4.div(e, f32x4.mul(denominator, denominator));
    }
    default:
      return one;
  }
}

/** f′ from the output y = f(x): relu, leaky_relu, tanh and sigmoid only; 1 for other codes. */
@inline
export function derivativeOfOutput(code: i32, y: v128, slope: v128): v128 {
  const one = f32x4.splat(1);
  switch (code) {
    case RELU:
    case LEAKY_RELU:
      return derivative(code, y, slope);
    case TANH:
      return f32x4.sub(one, f32x4.mul(y, y));
    case SIGMOID:
      return f32x4.mul(y, f32x4.sub(one, y));
    default:
      return one;
  }
}
