// AssemblyScript: stochastic gradient descent, one pass over parameters, gradient and velocity; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { clipScale, decayLanes, stepScalar } from '../shared/optimizer';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function sgd(args: usize, thread: i32, threads: i32, step: i32): void {
  const gradient = pointer(args, 0);
  const parameters = pointer(args, 3);
  const velocity = pointer(args, 4);
  const count = integer(args, 5);
  const decayCount = integer(args, 6);
  const momentum = f32x4.splat(real(args, 7));
  const nesterov = integer(args, 8) != 0;
  const decay = f32x4.splat(real(args, 9));
  const scale = f32x4.splat(clipScale(pointer(args, 2), integer(args, 11), real(args, 10)));
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
