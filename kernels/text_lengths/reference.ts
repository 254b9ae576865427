// Oracle of text_lengths.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, codesWidth, codesColumn } = params;
  const { codes } = present(inputs);
  const { lengths } = present(outputs);
  for (let i = 0; i < batch; i++) {
    const start = i * codesWidth + codesColumn;
    const last = codes.subarray(start, start + length).findLastIndex((code) => code !== 0);
    lengths[i] = Math.max(1, last + 1);
  }
};
