// Oracle of layer_norm_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { rows, width } = params;
  const { dy, x, gamma, mean, inverseDeviation } = present(inputs);
  const { dx, dgamma, dbeta } = present(outputs);
  dgamma.fill(0);
  dbeta.fill(0);
  for (let row = 0; row < rows; row++) {
    const scale = inverseDeviation[row];
    const normalised = (j: number): number => (x[row * width + j] - mean[row]) * scale;
    let sum = 0;
    let product = 0;
    for (let j = 0; j < width; j++) {
      const gradient = dy[row * width + j];
      sum += gradient * gamma[j];
      product += gradient * gamma[j] * normalised(j);
      dgamma[j] += gradient * normalised(j);
      dbeta[j] += gradient;
    }
    for (let j = 0; j < width; j++) {
      const gradient = dy[row * width + j] * gamma[j];
      dx[row * width + j] = scale * (gradient - sum / width - (normalised(j) * product) / width);
    }
  }
};
