// Oracle of softmax.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { rows, width }) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  for (let row = 0; row < rows; row++) {
    const values = x.subarray(row * width, (row + 1) * width);
    const largest = values.reduce((most, value) => Math.max(most, value), -Infinity);
    const sum = values.reduce((total, value) => total + Math.exp(value - largest), 0);
    values.forEach((value, j) => (y[row * width + j] = Math.exp(value - largest) / sum));
  }
};
