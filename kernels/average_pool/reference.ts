// Oracle of average_pool.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachWindow } from '../pooling.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  const area = params.windowHeight * params.windowWidth;
  forEachWindow(params, (to, from) => (y[to] = from.reduce((sum, i) => sum + x[i], 0) / area));
};
