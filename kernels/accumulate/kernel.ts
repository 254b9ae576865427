// Adds gradients of parts of a batch up, each by its share: what a step of many small parts does before the optimizer.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'accumulate',
  summary: 'sum = keep·sum + share·x, (keep, share) = shares[step]; where keep is 0 the old sum is not looked at.',
  inputs: [
    { name: 'x', shape: (p) => [p.count] },
    {
      name: 'shares',
      shape: (p) => [p.steps, 2],
      sample: (_, random, index) => (index % 2 === 0 ? (index % 4 === 0 ? 0 : 1) : random()),
    },
  ],
  outputs: [{ name: 'sum', shape: (p) => [p.count], inPlace: true }],
  params: { count: 'i32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 3 * p.count, bytes: 12 * p.count }),
  tolerance: { relative: 5e-7, absolute: 1e-7, why: 'two roundings an element and step' },
  cases: [
    { params: { count: 1, steps: 1 } },
    { params: { count: 67, steps: 2 }, step: 1 },
    { params: { count: 1031, steps: 4 }, step: 3 },
    { params: { count: 4096, steps: 3 }, step: 2 },
  ],
});
