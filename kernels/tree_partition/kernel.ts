// The rows of a leaf by the side they go to: block by block, which tree_move puts together.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';
import { blocksOf } from '../trees.ts';

export const kernel = defineKernel({
  name: 'tree_partition',
  summary:
    'Of (from, to, column) = job: each block of list[from … to) is sorted into spare, at the same places, rows first whose bin ' +
    'of the column goesLeft, in their order; counts[block] of them do.',
  inputs: [
    { name: 'bins', shape: (p) => [p.rows, p.width], type: 'u8', sample: (_, random) => whole(random, 256) },
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    { name: 'goesLeft', shape: () => [256], type: 'u8', sample: (_, random) => whole(random, 2) },
    {
      name: 'job',
      shape: () => [4],
      type: 'u32',
      sample: (p, _, index) => [Math.floor(p.rows / 7), p.rows, p.width - 1, 0][index],
    },
  ],
  outputs: [
    { name: 'spare', shape: (p) => [p.rows], type: 'u32', inPlace: true, sample: () => 0 },
    { name: 'counts', shape: (p) => [blocksOf(p.rows)], type: 'u32', inPlace: true, sample: () => 0 },
  ],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: 2 * p.rows, bytes: 10 * p.rows }),
  tolerance: { relative: 0, absolute: 0, why: 'whole numbers' },
  cases: [{ params: { rows: 1, width: 1 } }, { params: { rows: 37, width: 3 } }, { params: { rows: 9001, width: 5 } }],
});
