// Oracle of rms_norm.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { rows, width, epsilon }) => {
  const { x, gamma } = present(inputs);
  const { y, inverse } = present(outputs);
  for (let row = 0; row < rows; row++) {
    const values = x.subarray(row * width, (row + 1) * width);
    inverse[row] = 1 / Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / width + epsilon);
    for (let j = 0; j < width; j++) y[row * width + j] = values[j] * inverse[row] * gamma[j];
  }
};
