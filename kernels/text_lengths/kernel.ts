// How many tokens each row of a batch has: padding, code 0, stands behind them.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'text_lengths',
  summary:
    'lengths[i] = 1 + the place of the last code other than 0 among codes[i, codesColumn … codesColumn + length − 1]; 1 where all are 0.',
  inputs: [
    // From a place of its own on, each row is padding.
    {
      name: 'codes',
      shape: (p) => [p.batch, p.codesWidth],
      sample: (p, random, index) => {
        const row = Math.floor(index / p.codesWidth);
        const tokens = (row * 7) % (p.length + 1);
        return (index % p.codesWidth) - p.codesColumn < tokens ? 1 + Math.floor(random() * 9) : 0;
      },
    },
  ],
  outputs: [{ name: 'lengths', shape: (p) => [p.batch] }],
  params: { batch: 'i32', length: 'i32', codesWidth: 'i32', codesColumn: 'i32' },
  cost: (p) => ({ flops: 0, bytes: 4 * p.batch * (p.length + 1) }),
  tolerance: { relative: 0, absolute: 0, why: 'whole numbers' },
  cases: [
    { params: { batch: 1, length: 1, codesWidth: 1, codesColumn: 0 } },
    { params: { batch: 17, length: 13, codesWidth: 16, codesColumn: 3 } },
    { params: { batch: 131, length: 5, codesWidth: 9, codesColumn: 2 } },
  ],
});
