// Sets every element to one value.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'fill',
  summary: 'y = value.',
  inputs: [],
  outputs: [{ name: 'y', shape: (p) => [p.count] }],
  params: { count: 'i32', value: 'f32' },
  cost: (p) => ({ flops: 0, bytes: 4 * p.count }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { count: 1, value: 0 } },
    { params: { count: 67, value: 1.5 } },
    { params: { count: 1031, value: -0.1 } },
  ],
});
