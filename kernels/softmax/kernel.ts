// Softmax over the last dimension: the weights of attention.

import { defineKernel } from '../contract.ts';
import { normalWithOutliers } from '../samples.ts';

export const kernel = defineKernel({
  name: 'softmax',
  summary: 'y = exp(x − max)/Σ exp(x − max) a row.',
  inputs: [
    {
      name: 'x',
      shape: (p) => [p.rows, p.width],
      sample: (_, random, index) => normalWithOutliers(random, index, 40),
    },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.rows, p.width] }],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: 4 * p.rows * p.width, bytes: 8 * p.rows * p.width }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'one exponential, a float32 sum of up to 257 terms, one division' },
  cases: [
    { params: { rows: 1, width: 1 } },
    { params: { rows: 7, width: 13 } },
    { params: { rows: 33, width: 64 } },
    { params: { rows: 3, width: 257 } },
    { params: { rows: 131, width: 3 } },
  ],
});
