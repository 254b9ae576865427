// AssemblyScript: dx = dy ⊙ f′. One loop an activation and kind of saved tensor, so that nothing is decided within it.

import {
  COSINE,
  derivative,
  derivativeOfOutput,
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

export function activation_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const saved = pointer(args, 1);
  const dx = pointer(args, 2);
  const count = integer(args, 3);
  const code = integer(args, 4);
  const slope = f32x4.splat(real(args, 5));
  const fromOutput = integer(args, 6) != 0;
  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  switch (code) {
    case RELU:
      return fromInput(RELU, dy, saved, dx, slope, start, end);
    case LEAKY_RELU:
      return fromInput(LEAKY_RELU, dy, saved, dx, slope, start, end);
    case GELU:
      return fromInput(GELU, dy, saved, dx, slope, start, end);
    case SILU:
      return fromInput(SILU, dy, saved, dx, slope, start, end);
    case TANH:
      if (fromOutput) return ofOutput(TANH, dy, saved, dx, slope, start, end);
      return fromInput(TANH, dy, saved, dx, slope, start, end);
    case SIGMOID:
      if (fromOutput) return ofOutput(SIGMOID, dy, saved, dx, slope, start, end);
      return fromInput(SIGMOID, dy, saved, dx, slope, start, end);
    case SELU:
      if (fromOutput) return ofOutput(SELU, dy, saved, dx, slope, start, end);
      return fromInput(SELU, dy, saved, dx, slope, start, end);
    case MISH:
      return fromInput(MISH, dy, saved, dx, slope, start, end);
    case COSINE:
      return fromInput(COSINE, dy, saved, dx, slope, start, end);
    case LOG:
      return fromInput(LOG, dy, saved, dx, slope, start, end);
    case SOFT_CLIP:
      return fromInput(SOFT_CLIP, dy, saved, dx, slope, start, end);
    case RELU6:
      return fromInput(RELU6, dy, saved, dx, slope, start, end);
    case GELU_TANH:
      return fromInput(GELU_TANH, dy, saved, dx, slope, start, end);
    default:
      return fromInput(NONE, dy, saved, dx, slope, start, end);
  }
}

/** `saved` is the input of f; for relu, relu6 and leaky_relu with a positive slope the output does as well. */
@inline
function fromInput(code: i32, dy: usize, saved: usize, dx: usize, slope: v128, start: i32, end: i32): void {
  let i = start;
  for (; i + 4 <= end; i += 4) {
    write(dx, i, f32x4.mul(read(dy, i, 4), derivative(code, read(saved, i, 4), slope)), 4);
  }
  if (i == end) return;
  const lanes = end - i;
  write(dx, i, f32x4.mul(read(dy, i, lanes), derivative(code, read(saved, i, lanes), slope)), lanes);
}

@inline
function ofOutput(code: i32, dy: usize, saved: usize, dx: usize, slope: v128, start: i32, end: i32): void {
  let i = start;
  for (; i + 4 <= end; i += 4) {
    write(dx, i, f32x4.mul(read(dy, i, 4), derivativeOfOutput(code, read(saved, i, 4), slope)), 4);
  }
  if (i == end) return;
  const lanes = end - i;
  write(dx, i, f32x4.mul(read(dy, i, lanes), derivativeOfOutput(code, read(saved, i, lanes), slope)), lanes);
}
