// AssemblyScript: what follows a product when it is not ReLU: the other activations, and the derivatives taken from an
// activation's output. Works in place on a stretch of a row of c. One loop a code, so that nothing is decided within it.

import {
  activate,
  COSINE,
  derivativeOfOutput,
  GELU,
  GELU_TANH,
  LEAKY_RELU,
  LOG,
  MISH,
  RELU,
  RELU6,
  SELU,
  SIGMOID,
  SILU,
  SOFT_CLIP,
  TANH,
} from './activations';
import { read, write } from './vectors';

/** c = f(c) for `count` elements. */
export function applyActivation(code: i32, slope: v128, c: usize, count: i32): void {
  switch (code) {
    case LEAKY_RELU:
      return activateRow(LEAKY_RELU, slope, c, count);
    case GELU:
      return activateRow(GELU, slope, c, count);
    case SILU:
      return activateRow(SILU, slope, c, count);
    case TANH:
      return activateRow(TANH, slope, c, count);
    case SIGMOID:
      return activateRow(SIGMOID, slope, c, count);
    case MISH:
      return activateRow(MISH, slope, c, count);
    case SELU:
      return activateRow(SELU, slope, c, count);
    case COSINE:
      return activateRow(COSINE, slope, c, count);
    case LOG:
      return activateRow(LOG, slope, c, count);
    case SOFT_CLIP:
      return activateRow(SOFT_CLIP, slope, c, count);
    case RELU6:
      return activateRow(RELU6, slope, c, count);
    case GELU_TANH:
      return activateRow(GELU_TANH, slope, c, count);
  }
}

@inline
function activateRow(code: i32, slope: v128, c: usize, count: i32): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) write(c, i, activate(code, read(c, i, 4), slope), 4);
  if (i < count) write(c, i, activate(code, read(c, i, count - i), slope), count - i);
}

/** c = c ⊙ f′ for `count` elements, f′ from the activation's output `saved`. */
export function applyGradient(code: i32, slope: v128, c: usize, saved: usize, count: i32): void {
  switch (code) {
    case RELU:
      return scaleRow(RELU, slope, c, saved, count);
    case RELU6:
      return scaleRow(RELU6, slope, c, saved, count);
    case LEAKY_RELU:
      return scaleRow(LEAKY_RELU, slope, c, saved, count);
    case TANH:
      return scaleRow(TANH, slope, c, saved, count);
    case SIGMOID:
      return scaleRow(SIGMOID, slope, c, saved, count);
    case SELU:
      return scaleRow(SELU, slope, c, saved, count);
  }
}

@inline
function scaleRow(code: i32, slope: v128, c: usize, saved: usize, count: i32): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    write(c, i, f32x4.mul(read(c, i, 4), derivativeOfOutput(code, read(saved, i, 4), slope)), 4);
  }
  if (i < count) {
    const lanes = count - i;
    write(c, i, f32x4.mul(read(c, i, lanes), derivativeOfOutput(code, read(saved, i, lanes), slope)), lanes);
  }
}
