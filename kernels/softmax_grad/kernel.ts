// Gradient of softmax, from its output.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'softmax_grad',
  summary: 'dx = y·(dy − Σ dy·y) a row.',
  inputs: [
    { name: 'dy', shape: (p) => [p.rows, p.width] },
    { name: 'y', shape: (p) => [p.rows, p.width], sample: (p, random) => uniform(random, 0, 2 / p.width) },
  ],
  outputs: [{ name: 'dx', shape: (p) => [p.rows, p.width] }],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: 4 * p.rows * p.width, bytes: 12 * p.rows * p.width }),
  tolerance: { relative: 2e-6, absolute: 1e-7, why: 'a float32 sum of up to 257 products, a difference, a product' },
  cases: [
    { params: { rows: 1, width: 1 } },
    { params: { rows: 7, width: 13 } },
    { params: { rows: 33, width: 64 } },
    { params: { rows: 3, width: 257 } },
    { params: { rows: 131, width: 3 } },
  ],
});
