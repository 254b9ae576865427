// Oracle of embedding_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, vocabulary, width, codesWidth, codesColumn } = params;
  const { dy, codes } = present(inputs);
  const { dtable } = present(outputs);
  dtable.fill(0);
  for (let i = 0; i < batch; i++) {
    const row = Math.min(Math.max(codes[i * codesWidth + codesColumn], 0), vocabulary - 1);
    for (let j = 0; j < width; j++) dtable[row * width + j] += dy[i * width + j];
  }
};
