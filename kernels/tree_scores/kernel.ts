// A tree's values, added to the scores of the rows that it was grown on: their leaves are known.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'tree_scores',
  summary:
    'Of (leaves, output) = job: scores[list[i], output] += values[leaf] for i before ends[leaf] and not before that of the leaf before.',
  inputs: [
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    {
      name: 'ends',
      shape: (p) => [p.leaves],
      type: 'u32',
      sample: (p, _, index) => Math.floor(((index + 1) * p.rows) / p.leaves),
    },
    { name: 'values', shape: (p) => [p.leaves], type: 'f64' },
    { name: 'job', shape: () => [2], type: 'u32', sample: (p, _, index) => [p.leaves, p.outputs - 1][index] },
  ],
  outputs: [{ name: 'scores', shape: (p) => [p.rows, p.outputs], type: 'f64', inPlace: true }],
  params: { rows: 'i32', outputs: 'i32', leaves: 'i32' },
  cost: (p) => ({ flops: p.rows, bytes: 20 * p.rows }),
  tolerance: { relative: 0, absolute: 0, why: 'one addition in float64' },
  cases: [
    { params: { rows: 1, outputs: 1, leaves: 1 } },
    { params: { rows: 37, outputs: 3, leaves: 5 } },
    { params: { rows: 4099, outputs: 1, leaves: 31 } },
  ],
});
