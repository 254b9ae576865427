// Columns of numbers sorted, each on its own: what bins are made by.

import { defineKernel } from '../contract.ts';
import { normalWithOutliers } from '../samples.ts';

export const kernel = defineKernel({
  name: 'tree_sort',
  summary:
    'For each of the first job[0] columns: the first counts[column] of its values, none of them NaN, in ascending order, −0 before 0, by ' +
    'their bits, 11 at a time from the lowest on (radix sort). Of `spare`, what was needed is 0 afterwards.',
  inputs: [
    {
      name: 'counts',
      shape: (p) => [p.columns],
      type: 'u32',
      sample: (p, _, index) => Math.max(0, p.rows - 5 * index),
    },
    { name: 'job', shape: () => [1], type: 'u32', sample: (p) => Math.max(1, p.columns - 1) },
  ],
  outputs: [
    {
      name: 'values',
      shape: (p) => [p.columns, p.rows],
      type: 'f64',
      inPlace: true,
      // Some alike, of either sign and of any size.
      sample: (_, random, index) =>
        index % 3 === 0 ? Math.round(3 * random()) - 1 : normalWithOutliers(random, index, 1e12),
    },
    { name: 'spare', shape: (p) => [p.columns, p.rows], type: 'f64', inPlace: true, sample: () => 0 },
  ],
  params: { rows: 'i32', columns: 'i32' },
  cost: (p) => ({ flops: 24 * p.rows * p.columns, bytes: 96 * p.rows * p.columns }),
  tolerance: { relative: 0, absolute: 0, why: 'numbers in another order' },
  cases: [
    { params: { rows: 1, columns: 1 } },
    { params: { rows: 37, columns: 3 } },
    { params: { rows: 9001, columns: 5 } },
  ],
});
