// Oracle of gather.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { outer, size, inner, count }) => {
  const { x, indices } = present(inputs);
  const { y } = present(outputs);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < count; i++) {
      const start = (o * size + Math.min(indices[i], size - 1)) * inner;
      y.set(x.subarray(start, start + inner), (o * count + i) * inner);
    }
  }
};
