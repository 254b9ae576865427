// Oracle of batch_norm_inference.

import { channelElements } from '../batch_norm/reference.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { outer, channels, inner, epsilon } = params;
  const { x, gamma, beta, runningMean, runningVariance } = present(inputs);
  const { y } = present(outputs);
  for (let channel = 0; channel < channels; channel++) {
    const scale = gamma[channel] / Math.sqrt(runningVariance[channel] + epsilon);
    for (const i of channelElements(outer, channels, inner, channel)) {
      y[i] = (x[i] - runningMean[channel]) * scale + beta[channel];
    }
  }
};
