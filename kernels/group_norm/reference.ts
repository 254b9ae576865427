// Oracle of group_norm.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, channels, inner, groups, epsilon } = params;
  const { x, gamma, beta } = present(inputs);
  const { y, mean, inverseDeviation } = present(outputs);
  const size = (channels / groups) * inner;
  for (let group = 0; group < batch * groups; group++) {
    const values = x.subarray(group * size, (group + 1) * size);
    const average = values.reduce((sum, value) => sum + value, 0) / size;
    const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / size;
    mean[group] = average;
    inverseDeviation[group] = 1 / Math.sqrt(variance + epsilon);
    for (let i = 0; i < size; i++) {
      const element = group * size + i;
      const channel = Math.floor(element / inner) % channels;
      y[element] = gamma[channel] * (x[element] - average) * inverseDeviation[group] + beta[channel];
    }
  }
};
