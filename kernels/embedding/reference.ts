// Oracle of embedding.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, vocabulary, width, codesWidth, codesColumn } = params;
  const { table, codes } = present(inputs);
  const { y } = present(outputs);
  for (let i = 0; i < batch; i++) {
    const row = Math.min(Math.max(codes[i * codesWidth + codesColumn], 0), vocabulary - 1);
    y.set(table.subarray(row * width, (row + 1) * width), i * width);
  }
};
