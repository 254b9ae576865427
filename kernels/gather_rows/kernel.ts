// Copies the rows of a step's batch out of the resident dataset.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'gather_rows',
  summary: 'batchX[i] = x[indices[step·batch + i]], and batchY from y alike.',
  inputs: [
    { name: 'x', shape: (p) => [p.rows, p.width] },
    { name: 'y', shape: (p) => [p.rows, p.targets], optional: true },
    {
      name: 'indices',
      shape: (p) => [p.steps * p.batch],
      type: 'u32',
      sample: (p, random) => whole(random, p.rows),
    },
  ],
  outputs: [
    { name: 'batchX', shape: (p) => [p.batch, p.width] },
    { name: 'batchY', shape: (p) => [p.batch, p.targets], optional: true },
  ],
  params: { rows: 'i32', width: 'i32', targets: 'i32', batch: 'i32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 0, bytes: p.batch * (8 * (p.width + p.targets) + 4) }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { rows: 1, width: 1, targets: 1, batch: 1, steps: 1 } },
    { params: { rows: 37, width: 20, targets: 1, batch: 32, steps: 3 }, step: 2 },
    { params: { rows: 11, width: 7, targets: 3, batch: 5, steps: 2 }, step: 1 },
    { params: { rows: 13, width: 19, targets: 0, batch: 17, steps: 1 }, absent: ['y', 'batchY'] },
    { params: { rows: 5, width: 67, targets: 2, batch: 3, steps: 4 }, step: 3 },
  ],
});
