// Oracle of max_pool.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachWindow } from '../pooling.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  forEachWindow(params, (to, from) => (y[to] = Math.max(...from.map((i) => x[i]))));
};
