// AssemblyScript: RMSprop, one pass over parameters, gradient and state; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { decayLanes, gradientScale, isSkipped, stepScalar, writeCopies } from '../shared/optimizer';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function rmsprop(args: usize, thread: i32, threads: i32, step: i32): void {
  const scaling = pointer(args, 3);
  if (isSkipped(scaling)) return;
  const gradient = pointer(args, 0);
  const parameters = pointer(args, 4);
  const square = pointer(args, 5);
  const velocity = pointer(args, 6);
  const count = integer(args, 8);
  const decayCount = integer(args, 9);
  const alpha = real(args, 10);
  const keepSquare = f32x4.splat(alpha);
  const newSquare = f32x4.splat(1 - alpha);
  const epsilon = f32x4.splat(real(args, 11));
  const momentum = f32x4.splat(real(args, 12));
  const decay = f32x4.splat(real(args, 13));
  const scale = f32x4.splat(gradientScale(scaling, pointer(args, 2), integer(args, 15), real(args, 14)));
  const stepSize = f32x4.splat(-stepScalar(pointer(args, 1), step, 0));

  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = start; i < end; i += 4) {
    const lanes = end - i;
    const p = read(parameters, i, lanes);
    let g = f32x4.mul(read(gradient, i, lanes), scale);
    g = multiplyAdd(decayLanes(decay, decayCount - i), p, g);
    const s = multiplyAdd(keepSquare, read(square, i, lanes), f32x4.mul(newSquare, f32x4.mul(g, g)));
    write(square, i, s, lanes);
    let update = f32x4.div(g, f32x4.add(f32x4.sqrt(s), epsilon));
    if (velocity != 0) {
      update = multiplyAdd(momentum, read(velocity, i, lanes), update);
      write(velocity, i, update, lanes);
    }
    write(parameters, i, multiplyAdd(stepSize, update, p), lanes);
  }
  writeCopies(pointer(args, 7), parameters, start, end);
}
