// Residual connections, and gradients that meet where a tensor is used twice.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'add',
  summary: 'c = a + b.',
  inputs: [
    { name: 'a', shape: (p) => [p.count] },
    { name: 'b', shape: (p) => [p.count] },
  ],
  outputs: [{ name: 'c', shape: (p) => [p.count] }],
  params: { count: 'i32' },
  cost: (p) => ({ flops: p.count, bytes: 12 * p.count }),
  tolerance: { relative: 6e-8, absolute: 0, why: 'one rounding' },
  cases: [{ params: { count: 1 } }, { params: { count: 13 } }, { params: { count: 64 } }, { params: { count: 1031 } }],
});
