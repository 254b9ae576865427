// Oracle of conv2d_input_grad.

import { activate, activationName, derivativeOfOutput } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachProduct } from '../convolution.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { dy, w } = present(inputs);
  const { bias, saved } = inputs;
  const { dx } = present(outputs);
  const { channels, height, width, slope } = params;
  const channelOf = (element: number): number => Math.floor(element / (height * width)) % channels;
  dx.forEach((_, i) => (dx[i] = bias ? bias[channelOf(i)] : 0));
  forEachProduct(params, (to, weight, from) => (dx[to] += dy[from] * w[weight]));
  const name = activationName(params.activation);
  dx.forEach((sum, i) => {
    if (!params.gradient) dx[i] = activate(name, sum, slope);
    else dx[i] = saved && name !== 'none' ? sum * derivativeOfOutput(name, saved[i], slope) : sum;
  });
};
