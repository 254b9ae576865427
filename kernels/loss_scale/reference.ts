// Oracle of loss_scale.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { largestScale, smallestScale, type kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { beta1, beta2, interval }) => {
  const { partials } = present(inputs);
  const { scale, scaling } = present(outputs);
  const used = scale[0];
  if (!Number.isFinite(partials.reduce((sum, part) => sum + part, 0)) && used > smallestScale) {
    scale[0] = used / 2;
    scaling.set([0, scaling[1] + 1, 0]);
    return;
  }
  scaling[0]++;
  scaling[2] = 1 / used;
  scaling[3] = beta1 * scaling[3] + (1 - beta1);
  scaling[4] = beta2 * scaling[4] + (1 - beta2);
  if (scaling[0] < interval) return;
  scaling[0] = 0;
  scale[0] = Math.min(2 * used, largestScale);
};
