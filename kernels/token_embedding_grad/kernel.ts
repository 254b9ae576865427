// Gradient of a table of tokens: the rows of dy, summed by token; padding adds nothing.

import { defineKernel } from '../contract.ts';
import { sampledCode, tokenCases, tokenParams } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'token_embedding_grad',
  summary: 'dtable[v] = Σ dy[i, t] over the positions whose code, clamped to the vocabulary, is v + 1; in their order.',
  inputs: [
    { name: 'dy', shape: (p) => [p.batch, p.length, p.width] },
    { name: 'codes', shape: (p) => [p.batch, p.codesWidth], sample: sampledCode },
  ],
  outputs: [{ name: 'dtable', shape: (p) => [p.vocabulary, p.width] }],
  params: tokenParams,
  cost: (p) => ({
    flops: p.batch * p.length * p.width,
    bytes: 4 * (p.batch * p.length * (p.width + 1) + p.vocabulary * p.width),
  }),
  tolerance: { relative: 2e-6, absolute: 1e-7, why: 'a float32 sum of up to 64 rows' },
  cases: tokenCases,
});
