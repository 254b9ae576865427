// AssemblyScript: the activations and their derivatives on four float32 lanes. Called with a constant code within a loop,
// the switch folds away. Codes are those of kernels/activations.ts.

import { exp, gaussian, log, multiplyAdd, normalDistribution, sigmoid, sineOfTurns, tanh } from './math';

export const NONE = 0;
export const RELU = 1;
export const LEAKY_RELU = 2;
export const GELU = 3;
export const SILU = 4;
export const TANH = 5;
export const SIGMOID = 6;
export const MISH = 7;
export const SELU = 8;
export const COSINE = 9;
export const LOG = 10;
export const SOFT_CLIP = 11;
export const RELU6 = 12;
export const GELU_TANH = 13;

/** 1/√(2π) */
const DENSITY_AT_ZERO: f32 = 0.3989422804;

/** SELU's scale, and that times its alpha. */
const SELU_SCALE: f32 = 1.0507009874;
const SELU_FLOOR: f32 = 1.7580993408;
const TWO_PI: f32 = 6.2831853072;
const LEAST_OF_LOG: f32 = 1e-30;
/** 2·√(2/π), and that times 0.044715. */
const GELU_SCALE: f32 = 1.5957691216;
const GELU_CUBE: f32 = 0.0713548163;

/** e^x for Mish, whose ratio is 1 from 20 on. */
@inline
function heldExp(x: v128): v128 {
  return exp(f32x4.min(x, f32x4.splat(20)));
}

/** 1 + (slope·x)² */
@inline
function clipSquare(x: v128, slope: v128): v128 {
  const scaled = f32x4.mul(x, slope);
  return multiplyAdd(scaled, scaled, f32x4.splat(1));
}

/** 2u, u = √(2/π)(x + 0.044715x³): x·σ(2u) is gelu_tanh. */
@inline
function geluGate(x: v128): v128 {
  const square = f32x4.mul(x, x);
  return f32x4.mul(x, multiplyAdd(square, f32x4.splat(GELU_CUBE), f32x4.splat(GELU_SCALE)));
}

/** f(x); `slope` is the negative slope of leaky_relu, and one over the limit of soft_clip. */
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
    case MISH: {
      // tanh ln(1 + e) = n/(n + 2), n = e(e + 2), e = e^x.
      const e = heldExp(x);
      const n = f32x4.mul(e, f32x4.add(e, f32x4.splat(2)));
      return f32x4.mul(x, f32x4.div(n, f32x4.add(n, f32x4.splat(2))));
    }
    case SELU: {
      const grown = f32x4.sub(exp(f32x4.min(x, zero)), f32x4.splat(1));
      const below = f32x4.mul(grown, f32x4.splat(SELU_FLOOR));
      return v128.bitselect(f32x4.mul(x, f32x4.splat(SELU_SCALE)), below, f32x4.gt(x, zero));
    }
    case COSINE:
      // Whole turns go before the quarter comes: x + 1/4 would round what is far from 0.
      return sineOfTurns(f32x4.sub(f32x4.splat(0.25), f32x4.abs(f32x4.sub(x, f32x4.nearest(x)))));
    case LOG:
      return v128.bitselect(log(f32x4.max(x, f32x4.splat(LEAST_OF_LOG))), x, f32x4.eq(x, x));
    case SOFT_CLIP:
      return f32x4.div(x, f32x4.sqrt(clipSquare(x, slope)));
    case RELU6:
      return f32x4.min(f32x4.max(x, zero), f32x4.splat(6));
    case GELU_TANH:
      return f32x4.mul(x, sigmoid(geluGate(x)));
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
    case MISH: {
      // t + x·σ·(1 − t²), where 1 − t² = 4(n + 1)/(n + 2)².
      const e = heldExp(x);
      const n = f32x4.mul(e, f32x4.add(e, f32x4.splat(2)));
      const below = f32x4.add(n, f32x4.splat(2));
      const rest = f32x4.div(f32x4.mul(f32x4.add(n, one), f32x4.splat(4)), f32x4.mul(below, below));
      const share = f32x4.div(e, f32x4.add(e, one));
      return multiplyAdd(x, f32x4.mul(share, rest), f32x4.div(n, below));
    }
    case SELU: {
      const below = f32x4.mul(exp(f32x4.min(x, zero)), f32x4.splat(SELU_FLOOR));
      return v128.bitselect(f32x4.splat(SELU_SCALE), below, f32x4.gt(x, zero));
    }
    case COSINE:
      return f32x4.mul(sineOfTurns(x), f32x4.splat(-TWO_PI));
    case LOG:
      return v128.and(f32x4.div(one, x), f32x4.gt(x, f32x4.splat(LEAST_OF_LOG)));
    case SOFT_CLIP: {
      const square = clipSquare(x, slope);
      return f32x4.div(one, f32x4.mul(square, f32x4.sqrt(square)));
    }
    case RELU6:
      return v128.and(one, v128.and(f32x4.gt(x, zero), f32x4.lt(x, f32x4.splat(6))));
    case GELU_TANH: {
      // σ + x·σ(1 − σ)·gate′, where σ(1 − σ) = e/(1 + e)², e = e^(−|gate|): 1 − σ would cancel where σ is near 1.
      const gate = geluGate(x);
      const e = exp(f32x4.neg(f32x4.abs(gate)));
      const larger = f32x4.div(one, f32x4.add(one, e));
      const smaller = f32x4.mul(e, larger);
      const s = v128.bitselect(larger, smaller, f32x4.gt(gate, zero));
      const slopeOfGate = multiplyAdd(f32x4.mul(x, x), f32x4.splat(3 * GELU_CUBE), f32x4.splat(GELU_SCALE));
      return multiplyAdd(f32x4.mul(f32x4.mul(larger, smaller), x), slopeOfGate, s);
    }
    default:
      return one;
  }
}

/** f′ from the output y = f(x): relu, leaky_relu, relu6, tanh, sigmoid and selu only; 1 for other codes. */
@inline
export function derivativeOfOutput(code: i32, y: v128, slope: v128): v128 {
  const one = f32x4.splat(1);
  switch (code) {
    case RELU:
    case RELU6:
    case LEAKY_RELU:
      return derivative(code, y, slope);
    case TANH:
      return f32x4.sub(one, f32x4.mul(y, y));
    case SIGMOID:
      return f32x4.mul(y, f32x4.sub(one, y));
    case SELU: {
      const below = f32x4.add(y, f32x4.splat(SELU_FLOOR));
      return v128.bitselect(f32x4.splat(SELU_SCALE), below, f32x4.gt(y, f32x4.splat(0)));
    }
    default:
      return one;
  }
}
