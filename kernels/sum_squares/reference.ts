// Oracle of sum_squares.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { count, chunks } = params;
  const { x } = present(inputs);
  const { partials } = present(outputs);
  for (let j = 0; j < chunks; j++) {
    const chunk = x.subarray(Math.floor((j * count) / chunks), Math.floor(((j + 1) * count) / chunks));
    partials[j] = chunk.reduce((sum, value) => sum + value * value, 0);
  }
};
