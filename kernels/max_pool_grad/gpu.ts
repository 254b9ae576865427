// max_pool_grad, one element of dx a thread: it looks whether it is the first largest of each window it lies in.

import type { GpuKernel } from '../gpu-contract.ts';
import { poolGradientPass, windowLoop } from '../gpu-pooling.ts';
import type { Pooling } from '../pooling.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const p = params as Pooling;
    // An element before this one in row-major order must be smaller, one after it no larger.
    const compare = `let value = x[plane * ${p.height * p.width}u + u32(row * ${p.width} + column)];
      let before = row < element_row || (row == element_row && column < element_column);
      chosen = chosen && select(value <= x[i], value < x[i], before);`;
    const visit = `var chosen = true;
      ${windowLoop(p, compare)}
      if (chosen) { sum += dy[window]; }`;
    return [poolGradientPass('max_pool_grad', p, limits, ['dy', 'x'], visit)];
  },
};
