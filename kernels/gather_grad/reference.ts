// Oracle of gather_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { outer, size, inner, count }) => {
  const { dy, indices } = present(inputs);
  const { dx } = present(outputs);
  dx.fill(0);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < count; i++) {
      const target = (o * size + Math.min(indices[i], size - 1)) * inner;
      for (let j = 0; j < inner; j++) dx[target + j] += dy[(o * count + i) * inner + j];
    }
  }
};
