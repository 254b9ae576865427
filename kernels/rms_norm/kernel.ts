// Root mean square normalisation over the last dimension. B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization", 2019.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'rms_norm',
  summary: 'y = x·inverse·gamma a row, inverse = 1/√(mean of x² + epsilon).',
  inputs: [
    { name: 'x', shape: (p) => [p.rows, p.width] },
    { name: 'gamma', shape: (p) => [p.width] },
  ],
  outputs: [
    { name: 'y', shape: (p) => [p.rows, p.width] },
    { name: 'inverse', shape: (p) => [p.rows] },
  ],
  params: { rows: 'i32', width: 'i32', epsilon: 'f32' },
  cost: (p) => ({ flops: 5 * p.rows * p.width, bytes: 4 * p.rows * (2 * p.width + 1) + 4 * p.width }),
  tolerance: {
    relative: 3e-6,
    absolute: 1e-6,
    why: 'a float32 sum over up to 257 squares a row, then a division by its root',
  },
  cases: [
    { params: { rows: 1, width: 1, epsilon: 1e-5 } },
    { params: { rows: 7, width: 13, epsilon: 1e-6 } },
    { params: { rows: 32, width: 64, epsilon: 1e-5 } },
    { params: { rows: 3, width: 257, epsilon: 1e-3 } },
    { params: { rows: 67, width: 17, epsilon: 1e-5 } },
  ],
});
