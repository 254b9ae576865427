// Keeps a step's result in a ring that the host reads after the submit.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'store_rows',
  summary: 'y[step·count + i] = x[i]; the rest of y stays.',
  inputs: [{ name: 'x', shape: (p) => [p.count] }],
  outputs: [{ name: 'y', shape: (p) => [p.steps * p.count], inPlace: true }],
  params: { count: 'i32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 0, bytes: 8 * p.count }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { count: 1, steps: 1 } },
    { params: { count: 1, steps: 5 }, step: 4 },
    { params: { count: 67, steps: 3 }, step: 1 },
    { params: { count: 256, steps: 2 }, step: 1 },
  ],
});
