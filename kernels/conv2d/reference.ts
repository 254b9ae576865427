// Oracle of conv2d.

import { activate, activationName } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachProduct, outputShape } from '../convolution.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x, w } = present(inputs);
  const { bias } = inputs;
  const { y } = present(outputs);
  const [, filters, height, width] = outputShape(params);
  const filterOf = (element: number): number => Math.floor(element / (height * width)) % filters;
  y.forEach((_, i) => (y[i] = bias ? bias[filterOf(i)] : 0));
  forEachProduct(params, (from, weight, to) => (y[to] += x[from] * w[weight]));
  const name = activationName(params.activation);
  y.forEach((sum, i) => (y[i] = activate(name, sum, params.slope)));
};
