// Which positions of sequences are real, as numbers to add or to multiply by.

import { defineKernel } from '../contract.ts';
import { sampledLength } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'positions_mask',
  summary: 'y[i, t] = inside where t < lengths[i], else outside.',
  inputs: [{ name: 'lengths', shape: (p) => [p.batch], sample: sampledLength }],
  outputs: [{ name: 'y', shape: (p) => [p.batch, p.length] }],
  params: { batch: 'i32', length: 'i32', inside: 'f32', outside: 'f32' },
  cost: (p) => ({ flops: 0, bytes: 4 * p.batch * (p.length + 1) }),
  tolerance: { relative: 0, absolute: 0, why: 'one of two numbers is written' },
  cases: [
    { params: { batch: 1, length: 1, inside: 1, outside: 0 } },
    { params: { batch: 5, length: 13, inside: 0, outside: -1000000 } },
    { params: { batch: 17, length: 150, inside: 1, outside: 0 } },
  ],
});
