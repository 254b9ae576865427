// Learned vectors of the tokens of a text.

import { defineKernel } from '../contract.ts';
import { sampledCode, tokenCases, tokenParams } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'token_embedding',
  summary:
    'y[i, t] = table[codes[i, codesColumn + t] − 1], 0 where the code is 0 (padding); codes past the vocabulary count as the last. With `pairs` for two codes side by side.',
  inputs: [
    { name: 'table', shape: (p) => [p.vocabulary, p.width] },
    { name: 'codes', shape: (p) => [p.batch, p.codesWidth], sample: sampledCode },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.batch, p.length, p.width] }],
  params: tokenParams,
  cost: (p) => ({ flops: 0, bytes: p.batch * p.length * (8 * p.width + 4) }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: tokenCases,
});
