// An activation of some elements: one loop an activation, so that nothing is decided within it.

import {
  activate,
  COSINE,
  GELU,
  GELU_TANH,
  LEAKY_RELU,
  LOG,
  MISH,
  NONE,
  RELU,
  RELU6,
  SELU,
  SIGMOID,
  SILU,
  SOFT_CLIP,
  TANH,
} from './activations';
import { read, write } from './vectors';

/** y[i] = f(x[i]) for start ≤ i < end; y may be x. */
export function activateRange(code: i32, x: usize, y: usize, slope: v128, start: i32, end: i32): void {
  switch (code) {
    case RELU:
      return activateLoop(RELU, x, y, slope, start, end);
    case LEAKY_RELU:
      return activateLoop(LEAKY_RELU, x, y, slope, start, end);
    case GELU:
      return activateLoop(GELU, x, y, slope, start, end);
    case SILU:
      return activateLoop(SILU, x, y, slope, start, end);
    case TANH:
      return activateLoop(TANH, x, y, slope, start, end);
    case SIGMOID:
      return activateLoop(SIGMOID, x, y, slope, start, end);
    case MISH:
      return activateLoop(MISH, x, y, slope, start, end);
    case SELU:
      return activateLoop(SELU, x, y, slope, start, end);
    case COSINE:
      return activateLoop(COSINE, x, y, slope, start, end);
    case LOG:
      return activateLoop(LOG, x, y, slope, start, end);
    case SOFT_CLIP:
      return activateLoop(SOFT_CLIP, x, y, slope, start, end);
    case RELU6:
      return activateLoop(RELU6, x, y, slope, start, end);
    case GELU_TANH:
      return activateLoop(GELU_TANH, x, y, slope, start, end);
    default:
      return activateLoop(NONE, x, y, slope, start, end);
  }
}

@inline
function activateLoop(code: i32, x: usize, y: usize, slope: v128, start: i32, end: i32): void {
  let i = start;
  for (; i + 4 <= end; i += 4) write(y, i, activate(code, read(x, i, 4), slope), 4);
  if (i < end) write(y, i, activate(code, read(x, i, end - i), slope), end - i);
}
