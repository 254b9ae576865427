// The loss of boosting over consecutive rows, block by block.

import { defineKernel } from '../contract.ts';
import { blocksOf, lossInputs } from '../trees.ts';

export const kernel = defineKernel({
  name: 'tree_loss',
  summary:
    'Of (from, to) = job: sums[block] = (Σ weight·loss, Σ weight) over the rows of a block of [from, to); losses as in tree_gradients.',
  inputs: [
    ...lossInputs,
    {
      name: 'job',
      shape: () => [2],
      type: 'u32',
      sample: (p, _, index) => (index === 0 ? Math.floor(p.rows / 9) : p.rows),
    },
  ],
  outputs: [{ name: 'sums', shape: (p) => [blocksOf(p.rows), 2], type: 'f64', inPlace: true }],
  params: { rows: 'i32', outputs: 'i32', kind: 'i32', classes: 'i32' },
  cost: (p) => ({ flops: 60 * p.rows * p.outputs, bytes: p.rows * (8 * p.outputs + 4) }),
  tolerance: { relative: 1e-13, absolute: 1e-13, why: 'a sum of up to 4,096 losses in float64' },
  cases: [
    { params: { rows: 1, outputs: 1, kind: 0, classes: 1 }, absent: ['weights'] },
    ...[0, 1, 2, 3, 4].map((kind) => ({ params: { rows: 67, outputs: 1, kind, classes: 1 }, absent: ['weights'] })),
    { params: { rows: 9001, outputs: 1, kind: 5, classes: 2 } },
    { params: { rows: 129, outputs: 1, kind: 5, classes: 2 }, absent: ['weights'] },
    { params: { rows: 131, outputs: 3, kind: 6, classes: 3 } },
    { params: { rows: 5, outputs: 7, kind: 6, classes: 7 }, absent: ['weights'] },
  ],
});
