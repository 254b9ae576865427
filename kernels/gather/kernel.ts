// Picks slices of a tensor by number: rows of a table, positions of a sequence.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'gather',
  summary: 'y[o, i] = x[o, indices[i]] for slices of `inner` elements; numbers past the end count as the last.',
  inputs: [
    { name: 'x', shape: (p) => [p.outer, p.size, p.inner] },
    { name: 'indices', type: 'u32', shape: (p) => [p.count], sample: (p, random) => whole(random, p.size + 1) },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.outer, p.count, p.inner] }],
  params: { outer: 'i32', size: 'i32', inner: 'i32', count: 'i32' },
  cost: (p) => ({ flops: 0, bytes: 8 * p.outer * p.count * p.inner + 4 * p.count }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { outer: 1, size: 1, inner: 1, count: 1 } },
    { params: { outer: 1, size: 100, inner: 8, count: 33 } },
    { params: { outer: 3, size: 5, inner: 7, count: 4 } },
    { params: { outer: 17, size: 13, inner: 1, count: 29 } },
  ],
});
