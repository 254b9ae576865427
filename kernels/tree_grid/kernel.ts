// Gradients and hessians as whole numbers, so that sums of them have no order.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';
import { blocksOf } from '../trees.ts';

export const kernel = defineKernel({
  name: 'tree_grid',
  summary:
    'Of (count, bits of a gradient, bits of a hessian, bits of a count) = job: steps are powers of two by which the largest of ' +
    'maxima have so many bits; packed[row] of the listed rows = two words of 64 bits, round(gradient/step) and ' +
    'round(hessian/step)·2^countBits + 1, ties to even.',
  inputs: [
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    {
      name: 'pairs',
      shape: (p) => [p.rows, 2],
      type: 'f64',
      sample: (_, random, index) => uniform(random, index % 2 === 0 ? -3 : 0, 3),
    },
    { name: 'maxima', shape: (p) => [blocksOf(p.rows), 2], type: 'f64', sample: (_p, _, index) => 3 + (index % 2) },
    { name: 'job', shape: () => [4], type: 'u32', sample: (p, _, index) => [p.rows, 23, 19, 13][index] },
  ],
  outputs: [
    { name: 'packed', shape: (p) => [p.rows, 4], type: 'u32', inPlace: true },
    { name: 'steps', shape: () => [2], type: 'f64' },
  ],
  params: { rows: 'i32' },
  cost: (p) => ({ flops: 4 * p.rows, bytes: 36 * p.rows }),
  tolerance: { relative: 0, absolute: 0, why: 'whole numbers' },
  cases: [{ params: { rows: 1 } }, { params: { rows: 37 } }, { params: { rows: 4099 } }],
});
