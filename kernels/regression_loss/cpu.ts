// AssemblyScript: squared, absolute and Huber loss with gradient. Thread 0 alone: a batch has few targets, and one order of
// the sum gives one result.

import { at, integer, pointer, read, real, sumLanes, write } from '../shared/vectors';

/** Values of the parameter `kind`. */
const SQUARED = 0;
const ABSOLUTE = 1;

export function regression_loss(args: usize, thread: i32, threads: i32, step: i32): void {
  if (thread != 0) return;
  const prediction = pointer(args, 0);
  const target = pointer(args, 1);
  const loss = pointer(args, 2);
  const gradient = pointer(args, 3);
  const count = integer(args, 4) * integer(args, 5);
  const kind = integer(args, 6);
  const delta = f32x4.splat(real(args, 7));
  const share = f32x4.splat(1 / <f32>count);
  let sum = f32x4.splat(0);
  for (let i = 0; i < count; i += 4) {
    const lanes = count - i;
    const difference = f32x4.sub(read(prediction, i, lanes), read(target, i, lanes));
    sum = f32x4.add(sum, lossOf(kind, difference, delta));
    if (gradient != 0) write(gradient, i, f32x4.mul(slopeOf(kind, difference, delta), share), lanes);
  }
  store<f32>(at(loss, step), sumLanes(sum) / <f32>count);
}

/** l(d); 0 for d = 0, so lanes past the end add nothing. */
@inline
function lossOf(kind: i32, d: v128, delta: v128): v128 {
  if (kind == SQUARED) return f32x4.mul(d, d);
  const size = f32x4.abs(d);
  if (kind == ABSOLUTE) return size;
  const half = f32x4.splat(0.5);
  const square = f32x4.mul(f32x4.mul(d, d), half);
  const linear = f32x4.mul(delta, f32x4.sub(size, f32x4.mul(delta, half)));
  return v128.bitselect(square, linear, f32x4.le(size, delta));
}

/** l′(d) */
@inline
function slopeOf(kind: i32, d: v128, delta: v128): v128 {
  if (kind == SQUARED) return f32x4.add(d, d);
  if (kind == ABSOLUTE) return signOf(d, f32x4.splat(1));
  return v128.bitselect(d, signOf(d, delta), f32x4.le(f32x4.abs(d), delta));
}

/** `size` with the sign of d, 0 where d is 0, d where it is no number. */
@inline
function signOf(d: v128, size: v128): v128 {
  const signed = v128.bitselect(d, size, i32x4.splat(0x80000000));
  return v128.bitselect(v128.and(signed, f32x4.ne(d, f32x4.splat(0))), d, f32x4.eq(d, d));
}
