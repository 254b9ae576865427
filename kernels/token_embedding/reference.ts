// Oracle of token_embedding.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { rowAt } from '../token-codes.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, width } = params;
  const { table, codes } = present(inputs);
  const { y } = present(outputs);
  for (let i = 0; i < batch; i++) {
    for (let t = 0; t < length; t++) {
      const row = rowAt(codes, i, t, params);
      const start = (i * length + t) * width;
      if (row < 0) y.fill(0, start, start + width);
      else y.set(table.subarray(row * width, (row + 1) * width), start);
    }
  }
};
