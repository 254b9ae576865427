// AssemblyScript: stochastic gradient descent, one pass over parameters, gradient and velocity; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { decayLanes, gradientScale, isSkipped, stepScalar, writeCopies } from '../shared/optimizer';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function sgd(args: usize, thread: i32, threads: i32, step: i32): void {
  const scaling = pointer(args, 3);
  if (isSkipped(scaling)) return;
  const gradient = pointer(args, 0);
  const parameters = pointer(args, 4);
  const velocity = pointer(args, 5);
  const count = integer(args, 7);
  const decayCount = integer(args, 8);
  const momentum = f32x4.splat(real(args, 9));
  const nesterov = integer(args, 10) != 0;
  const decay = f32x4.splat(real(args, 11));
  const scale = f32x4.splat(gradientScale(scaling, pointer(args, 2), integer(args, 13), real(args, 12)));
  const stepSize = f32x4.splat(-stepScalar(pointer(args, 1), step, 0));

  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = start; i < end; i += 4) {
    const lanes = end - i;
    const p = read(parameters, i, lanes);
    let g = f32x4.mul(read(gradient, i, lanes), scale);
    g = multiplyAdd(decayLanes(decay, decayCount - i), p, g);
    if (velocity != 0) {
      const v = multiplyAdd(momentum, read(velocity, i, lanes), g);
      write(velocity, i, v, lanes);
      g = nesterov ? multiplyAdd(momentum, v, g) : v;
    }
    write(parameters, i, multiplyAdd(stepSize, g, p), lanes);
  }
  writeCopies(pointer(args, 6), parameters, start, end);
}
