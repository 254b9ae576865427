// Oracle of batch_norm.

import { activate, activationName } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { outer, channels, inner, epsilon, momentum, slope } = params;
  const activation = activationName(params.activation);
  const { x, gamma, beta } = present(inputs);
  const { y, mean, inverseDeviation, runningMean, runningVariance } = present(outputs);
  const size = outer * inner;
  for (let channel = 0; channel < channels; channel++) {
    const elements = channelElements(outer, channels, inner, channel);
    const average = elements.reduce((sum, i) => sum + x[i], 0) / size;
    const squares = elements.reduce((sum, i) => sum + (x[i] - average) ** 2, 0);
    const scale = 1 / Math.sqrt(squares / size + epsilon);
    for (const i of elements) {
      y[i] = activate(activation, (x[i] - average) * scale * gamma[channel] + beta[channel], slope);
    }
    mean[channel] = average;
    inverseDeviation[channel] = scale;
    runningMean[channel] += momentum * (average - runningMean[channel]);
    runningVariance[channel] += momentum * (squares / Math.max(size - 1, 1) - runningVariance[channel]);
  }
};

/** Positions of one channel's elements in [outer, channels, inner]. */
export function channelElements(outer: number, channels: number, inner: number, channel: number): number[] {
  const positions: number[] = [];
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) positions.push((o * channels + channel) * inner + i);
  }
  return positions;
}
