// Oracle of column_sum.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { rows, width } = params;
  const { x } = present(inputs);
  const { y } = present(outputs);
  y.fill(0);
  for (let i = 0; i < rows * width; i++) y[i % width] += x[i];
};
