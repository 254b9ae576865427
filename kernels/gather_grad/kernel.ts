// Gradient of gather: the slices of dy, summed where they came from.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'gather_grad',
  summary: 'dx[o, s] = Σ dy[o, i] over the i with indices[i] = s (past the end: the last s), in the order of i.',
  inputs: [
    { name: 'dy', shape: (p) => [p.outer, p.count, p.inner] },
    { name: 'indices', type: 'u32', shape: (p) => [p.count], sample: (p, random) => whole(random, p.size + 1) },
  ],
  outputs: [{ name: 'dx', shape: (p) => [p.outer, p.size, p.inner] }],
  params: { outer: 'i32', size: 'i32', inner: 'i32', count: 'i32' },
  cost: (p) => ({
    flops: p.outer * p.count * p.inner,
    bytes: 4 * p.outer * p.inner * (p.count + p.size) + 4 * p.count,
  }),
  tolerance: { relative: 2e-6, absolute: 1e-7, why: 'a float32 sum of up to 67 slices' },
  cases: [
    { params: { outer: 1, size: 1, inner: 1, count: 1 } },
    { params: { outer: 1, size: 100, inner: 8, count: 33 } },
    { params: { outer: 3, size: 5, inner: 7, count: 4 } },
    { params: { outer: 17, size: 13, inner: 1, count: 29 } },
    { params: { outer: 1, size: 3, inner: 19, count: 67 } },
  ],
});
