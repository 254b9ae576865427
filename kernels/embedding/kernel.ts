// Learned vectors for the categories of one code column.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'embedding',
  summary: 'y[i] = table[codes[i, codesColumn]]; codes are whole float32 numbers, clamped to the vocabulary.',
  inputs: [
    { name: 'table', shape: (p) => [p.vocabulary, p.width] },
    // One code more than there are rows, and one below, so that the clamp is tested too.
    {
      name: 'codes',
      shape: (p) => [p.batch, p.codesWidth],
      sample: (p, random) => whole(random, p.vocabulary + 2) - 1,
    },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.batch, p.width] }],
  params: { batch: 'i32', vocabulary: 'i32', width: 'i32', codesWidth: 'i32', codesColumn: 'i32' },
  cost: (p) => ({ flops: 0, bytes: p.batch * (8 * p.width + 4) }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { batch: 1, vocabulary: 1, width: 1, codesWidth: 1, codesColumn: 0 } },
    { params: { batch: 32, vocabulary: 100, width: 8, codesWidth: 3, codesColumn: 1 } },
    { params: { batch: 17, vocabulary: 13, width: 5, codesWidth: 7, codesColumn: 6 } },
    { params: { batch: 67, vocabulary: 3, width: 19, codesWidth: 2, codesColumn: 0 } },
  ],
});
