// Oracle of layer_norm.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { rows, width, epsilon } = params;
  const { x, gamma, beta } = present(inputs);
  const { y, mean, inverseDeviation } = present(outputs);
  for (let row = 0; row < rows; row++) {
    const values = x.subarray(row * width, (row + 1) * width);
    const average = values.reduce((sum, value) => sum + value, 0) / width;
    const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / width;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let j = 0; j < width; j++) y[row * width + j] = (values[j] - average) * scale * gamma[j] + beta[j];
    mean[row] = average;
    inverseDeviation[row] = scale;
  }
};
