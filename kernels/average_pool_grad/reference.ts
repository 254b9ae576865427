// Oracle of average_pool_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachWindow } from '../pooling.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { dy } = present(inputs);
  const { dx } = present(outputs);
  const area = params.windowHeight * params.windowWidth;
  dx.fill(0);
  forEachWindow(params, (from, to) => {
    for (const i of to) dx[i] += dy[from] / area;
  });
};
