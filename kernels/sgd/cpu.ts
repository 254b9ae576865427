// AssemblyScript: stochastic gradient descent, one pass over parameters, gradient and velocity; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { decayLanes, gradientScale, isSkipped, stepScalar } from '../shared/optimizer';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function sgd(args: usize, thread: i32, threads: i32, step: i32): void {
  const scaling = pointer(args, 3);
  if (isSkipped(scaling)) return;
  const gradient = pointer(args, 0);
  const parameters = pointer(args, 4);
  const velocity = pointer(args, 5);
  const count = integer(args, 6);
  const decayCount = integer(args, 7);
  const momentum = f32x4.splat(real(args, 8));
  const nesterov = integer(args, 9) != 0;
  const decay = f32x4.splat(real(args, 10));
  const scale = f32x4.splat(gradientScale(scaling, pointer(args, 2), integer(args, 12), real(args, 11)));
  const stepSize = f32x4.splat(-stepScalar(pointer(args, 1), step, 0));

  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = shareStart(count, LINE, thread, threads); i < end; i += 4) {
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
}
