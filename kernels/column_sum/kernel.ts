// Sums over rows: the gradient of anything broadcast over a batch.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'column_sum',
  summary: 'y[j] = Σ x[row, j] over the rows, in their order.',
  inputs: [{ name: 'x', shape: (p) => [p.rows, p.width] }],
  outputs: [{ name: 'y', shape: (p) => [p.width] }],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: p.rows * p.width, bytes: 4 * (p.rows + 1) * p.width }),
  tolerance: { relative: 2e-6, absolute: 2e-6, why: 'a float32 sum of up to 300 rows' },
  cases: [
    { params: { rows: 1, width: 1 } },
    { params: { rows: 32, width: 64 } },
    { params: { rows: 7, width: 13 } },
    { params: { rows: 300, width: 67 } },
    { params: { rows: 31, width: 1 } },
  ],
});
