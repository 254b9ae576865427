// Oracle of batch_norm_grad.

import { channelElements } from '../batch_norm/reference.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { outer, channels, inner } = params;
  const { dy, x, gamma, mean, inverseDeviation } = present(inputs);
  const { dx, dgamma, dbeta } = present(outputs);
  const size = outer * inner;
  for (let channel = 0; channel < channels; channel++) {
    const elements = channelElements(outer, channels, inner, channel);
    const normalised = (i: number): number => (x[i] - mean[channel]) * inverseDeviation[channel];
    const sum = elements.reduce((total, i) => total + dy[i], 0);
    const product = elements.reduce((total, i) => total + dy[i] * normalised(i), 0);
    for (const i of elements) {
      dx[i] = gamma[channel] * inverseDeviation[channel] * (dy[i] - sum / size - (normalised(i) * product) / size);
    }
    dgamma[channel] = product;
    dbeta[channel] = sum;
  }
};
