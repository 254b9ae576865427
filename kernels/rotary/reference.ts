// Oracle of rotary.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, width, heads, size, inverse } = params;
  const { x, table } = present(inputs);
  const { y } = present(outputs);
  y.set(x);
  const half = size / 2;
  for (let position = 0; position < batch * length; position++) {
    const row = (position % length) * size;
    for (let head = 0; head < heads; head++) {
      for (let d = 0; d < half; d++) {
        const i = position * width + head * size + d;
        const cos = table[row + d];
        const sin = (inverse ? -1 : 1) * table[row + half + d];
        y[i] = x[i] * cos - x[i + half] * sin;
        y[i + half] = x[i + half] * cos + x[i] * sin;
      }
    }
  }
};
