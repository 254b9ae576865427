// The sorted blocks of tree_partition, put together: a leaf's rows, those first that go left.

import { defineKernel } from '../contract.ts';
import { blockRows, blocksOf } from '../trees.ts';

/** Of the cases: rows of a block that go left. */
const leftOf = (rows: number, block: number): number => Math.floor(Math.min(blockRows, rows - block * blockRows) / 3);

export const kernel = defineKernel({
  name: 'tree_move',
  summary:
    'Of (from, to, column, middle) = job: list[from … middle) = the first counts[block] of each block of spare[from … to), ' +
    'list[middle … to) = the others, both in their order.',
  inputs: [
    { name: 'spare', shape: (p) => [p.rows], type: 'u32', sample: (_p, _, index) => 7 * index },
    {
      name: 'counts',
      shape: (p) => [blocksOf(p.rows)],
      type: 'u32',
      sample: (p, _, index) => leftOf(p.rows, index),
    },
    {
      name: 'job',
      shape: () => [4],
      type: 'u32',
      sample: (p, _, index) => {
        const left = Array.from({ length: blocksOf(p.rows) }, (_, block) => leftOf(p.rows, block));
        return [0, p.rows, 0, left.reduce((sum, one) => sum + one, 0)][index];
      },
    },
  ],
  outputs: [{ name: 'list', shape: (p) => [p.rows], type: 'u32', inPlace: true, sample: () => 0 }],
  params: { rows: 'i32' },
  cost: (p) => ({ flops: p.rows, bytes: 8 * p.rows }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [{ params: { rows: 1 } }, { params: { rows: 37 } }, { params: { rows: 9001 } }],
});
