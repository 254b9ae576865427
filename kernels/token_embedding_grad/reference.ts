// Oracle of token_embedding_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { rowAt } from '../token-codes.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, width } = params;
  const { dy, codes } = present(inputs);
  const { dtable } = present(outputs);
  dtable.fill(0);
  for (let position = 0; position < batch * length; position++) {
    const row = rowAt(codes, Math.floor(position / length), position % length, params);
    if (row < 0) continue;
    for (let j = 0; j < width; j++) dtable[row * width + j] += dy[position * width + j];
  }
};
