// Oracle of softmax_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { rows, width }) => {
  const { dy, y } = present(inputs);
  const { dx } = present(outputs);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let i = row * width; i < (row + 1) * width; i++) sum += dy[i] * y[i];
    for (let i = row * width; i < (row + 1) * width; i++) dx[i] = y[i] * (dy[i] - sum);
  }
};
