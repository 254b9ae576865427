// Gradients and hessians of boosting, by the scores so far.

import { defineKernel } from '../contract.ts';
import { blocksOf, lossInputs } from '../trees.ts';

export const kernel = defineKernel({
  name: 'tree_gradients',
  summary:
    'For the first job[0] rows of the list: pairs[row] = (first, second derivative) of a loss by score job[1] (codes of trees.ts; ' +
    'constants: Huber’s delta or the quantile, offset and scale of counts), times the weight of the row’s class; ' +
    'maxima: their largest sizes, block by block. Of softmax the shares are made for score 0 and read for the others.',
  inputs: [
    ...lossInputs,
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    { name: 'job', shape: () => [2], type: 'u32', sample: (p, _, index) => (index === 0 ? p.rows : 0) },
  ],
  outputs: [
    { name: 'pairs', shape: (p) => [p.rows, 2], type: 'f64', inPlace: true },
    { name: 'shares', shape: (p) => [p.rows, p.outputs], type: 'f64', optional: true, inPlace: true },
    { name: 'maxima', shape: (p) => [blocksOf(p.rows), 2], type: 'f64', inPlace: true },
  ],
  params: { rows: 'i32', outputs: 'i32', kind: 'i32', classes: 'i32' },
  cost: (p) => ({ flops: 40 * p.rows * p.outputs, bytes: p.rows * (8 * p.outputs + 24) }),
  tolerance: { relative: 1e-14, absolute: 1e-300, why: 'an exponential of float64 and a few roundings' },
  cases: [
    { params: { rows: 1, outputs: 1, kind: 0, classes: 1 }, absent: ['weights', 'shares'] },
    ...[0, 1, 2, 3, 4].map((kind) => ({
      params: { rows: 67, outputs: 1, kind, classes: 1 },
      absent: ['weights', 'shares'],
    })),
    { params: { rows: 4099, outputs: 1, kind: 5, classes: 2 }, absent: ['shares'] },
    { params: { rows: 129, outputs: 1, kind: 5, classes: 2 }, absent: ['weights', 'shares'] },
    { params: { rows: 131, outputs: 3, kind: 6, classes: 3 } },
    { params: { rows: 5, outputs: 7, kind: 6, classes: 7 }, absent: ['weights'] },
  ],
});
