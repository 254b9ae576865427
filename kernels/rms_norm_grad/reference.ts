// Oracle of rms_norm_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { rows, width }) => {
  const { dy, x, gamma, inverse } = present(inputs);
  const { dx, dgamma } = present(outputs);
  dgamma.fill(0);
  for (let row = 0; row < rows; row++) {
    const scale = inverse[row];
    let product = 0;
    for (let j = 0; j < width; j++) {
      const i = row * width + j;
      product += dy[i] * gamma[j] * x[i] * scale;
      dgamma[j] += dy[i] * x[i] * scale;
    }
    for (let j = 0; j < width; j++) {
      const i = row * width + j;
      dx[i] = scale * (dy[i] * gamma[j] - (x[i] * scale * product) / width);
    }
  }
};
