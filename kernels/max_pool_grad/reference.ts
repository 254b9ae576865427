// Oracle of max_pool_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachWindow } from '../pooling.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { dy, x } = present(inputs);
  const { dx } = present(outputs);
  dx.fill(0);
  forEachWindow(params, (from, to) => {
    const largest = to.reduce((best, i) => (x[i] > x[best] ? i : best));
    dx[largest] += dy[from];
  });
};
