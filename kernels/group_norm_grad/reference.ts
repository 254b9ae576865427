// Oracle of group_norm_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, channels, inner, groups } = params;
  const { dy, x, gamma, mean, inverseDeviation } = present(inputs);
  const { dx, dgamma, dbeta } = present(outputs);
  const size = (channels / groups) * inner;
  const channelOf = (element: number): number => Math.floor(element / inner) % channels;
  dgamma.fill(0);
  dbeta.fill(0);
  for (let group = 0; group < batch * groups; group++) {
    const inverse = inverseDeviation[group];
    const normalised = (element: number): number => (x[element] - mean[group]) * inverse;
    let gradientSum = 0;
    let productSum = 0;
    for (let i = group * size; i < (group + 1) * size; i++) {
      const gradient = gamma[channelOf(i)] * dy[i];
      gradientSum += gradient;
      productSum += gradient * normalised(i);
      dbeta[channelOf(i)] += dy[i];
      dgamma[channelOf(i)] += dy[i] * normalised(i);
    }
    for (let i = group * size; i < (group + 1) * size; i++) {
      const gradient = gamma[channelOf(i)] * dy[i];
      dx[i] = inverse * (gradient - gradientSum / size - (normalised(i) * productSum) / size);
    }
  }
};
