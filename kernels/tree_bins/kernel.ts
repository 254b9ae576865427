// Numbers put into their bins.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

/** Edges of a column: one less than its bins, then infinities. */
export const mostEdges = 256;
/** In place of the bin for what is missing: the column is none of numbers, its bins stay as they are. */
export const noNumber = 0xffffffff;

export const kernel = defineKernel({
  name: 'tree_bins',
  summary:
    'For the first job[0] rows: bins[row, column] = how many edges of the column are below x[row, column]; missing[column] where that is ' +
    'NaN. Columns whose `missing` is 2³² − 1 are left alone.',
  inputs: [
    {
      name: 'x',
      shape: (p) => [p.rows, p.width],
      type: 'f64',
      // Between the edges, on them, beyond them and missing.
      sample: (_, random, index) => (index % 7 === 3 ? NaN : index % 5 === 1 ? index % 260 : uniform(random, -20, 300)),
    },
    {
      name: 'edges',
      shape: (p) => [p.width, mostEdges],
      type: 'f64',
      sample(_p, _, index) {
        const [column, edge] = [Math.floor(index / mostEdges), index % mostEdges];
        return edge < [254, 0, 1, 200][column % 4] ? edge + 0.5 * (column % 2) : Infinity;
      },
    },
    {
      name: 'missing',
      shape: (p) => [p.width],
      type: 'u32',
      sample: (_p, _, index) => (index % 6 === 5 ? noNumber : [255, 1, 2, 201][index % 4]),
    },
    { name: 'job', shape: () => [1], type: 'u32', sample: (p) => Math.max(1, p.rows - 2) },
  ],
  outputs: [{ name: 'bins', shape: (p) => [p.rows, p.width], type: 'u8', inPlace: true, sample: () => 17 }],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: 16 * p.rows * p.width, bytes: 9 * p.rows * p.width }),
  tolerance: { relative: 0, absolute: 0, why: 'whole numbers' },
  cases: [{ params: { rows: 1, width: 1 } }, { params: { rows: 37, width: 7 } }, { params: { rows: 9001, width: 11 } }],
});
