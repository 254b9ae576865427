// Gradient of an embedding table: the rows of dy, summed by code.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'embedding_grad',
  summary: 'dtable[v] = Σ dy[i] over the rows i whose code, clamped to the vocabulary, is v; in the order of the rows.',
  inputs: [
    { name: 'dy', shape: (p) => [p.batch, p.width] },
    {
      name: 'codes',
      shape: (p) => [p.batch, p.codesWidth],
      sample: (p, random) => whole(random, p.vocabulary + 2) - 1,
    },
  ],
  outputs: [{ name: 'dtable', shape: (p) => [p.vocabulary, p.width] }],
  params: { batch: 'i32', vocabulary: 'i32', width: 'i32', codesWidth: 'i32', codesColumn: 'i32' },
  cost: (p) => ({ flops: p.batch * p.width, bytes: 4 * (p.batch * (p.width + 1) + p.vocabulary * p.width) }),
  tolerance: { relative: 2e-6, absolute: 1e-7, why: 'a float32 sum of up to 67 rows' },
  cases: [
    { params: { batch: 1, vocabulary: 1, width: 1, codesWidth: 1, codesColumn: 0 } },
    { params: { batch: 32, vocabulary: 100, width: 8, codesWidth: 3, codesColumn: 1 } },
    { params: { batch: 17, vocabulary: 13, width: 5, codesWidth: 7, codesColumn: 6 } },
    { params: { batch: 67, vocabulary: 3, width: 19, codesWidth: 2, codesColumn: 0 } },
  ],
});
