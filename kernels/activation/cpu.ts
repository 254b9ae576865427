// AssemblyScript: y = f(x). One loop an activation, so that nothing is decided within it.

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
} from '../shared/activations';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function activation(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const count = integer(args, 2);
  const slope = f32x4.splat(real(args, 4));
  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  switch (integer(args, 3)) {
    case RELU:
      return activateRange(RELU, x, y, slope, start, end);
    case LEAKY_RELU:
      return activateRange(LEAKY_RELU, x, y, slope, start, end);
    case GELU:
      return activateRange(GELU, x, y, slope, start, end);
    case SILU:
      return activateRange(SILU, x, y, slope, start, end);
    case TANH:
      return activateRange(TANH, x, y, slope, start, end);
    case SIGMOID:
      return activateRange(SIGMOID, x, y, slope, start, end);
    case MISH:
      return activateRange(MISH, x, y, slope, start, end);
    case SELU:
      return activateRange(SELU, x, y, slope, start, end);
    case COSINE:
      return activateRange(COSINE, x, y, slope, start, end);
    case LOG:
      return activateRange(LOG, x, y, slope, start, end);
    case SOFT_CLIP:
      return activateRange(SOFT_CLIP, x, y, slope, start, end);
    case RELU6:
      return activateRange(RELU6, x, y, slope, start, end);
    case GELU_TANH:
      return activateRange(GELU_TANH, x, y, slope, start, end);
    default:
      return activateRange(NONE, x, y, slope, start, end);
  }
}

@inline
function activateRange(code: i32, x: usize, y: usize, slope: v128, start: i32, end: i32): void {
  let i = start;
  for (; i + 4 <= end; i += 4) write(y, i, activate(code, read(x, i, 4), slope), 4);
  if (i < end) write(y, i, activate(code, read(x, i, end - i), slope), end - i);
}
