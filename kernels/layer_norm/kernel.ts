// Layer normalisation over the last dimension. J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer Normalization", 2016.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'layer_norm',
  summary: 'y = (x − mean)·inverseDeviation·gamma + beta a row, inverseDeviation = 1/√(biased variance + epsilon).',
  inputs: [
    { name: 'x', shape: (p) => [p.rows, p.width] },
    { name: 'gamma', shape: (p) => [p.width] },
    { name: 'beta', shape: (p) => [p.width] },
  ],
  outputs: [
    { name: 'y', shape: (p) => [p.rows, p.width] },
    { name: 'mean', shape: (p) => [p.rows] },
    { name: 'inverseDeviation', shape: (p) => [p.rows] },
  ],
  params: { rows: 'i32', width: 'i32', epsilon: 'f32' },
  cost: (p) => ({ flops: 8 * p.rows * p.width, bytes: 8 * p.rows * (p.width + 1) + 8 * p.width }),
  tolerance: {
    relative: 5e-6,
    absolute: 1e-6,
    why: 'float32 sums over up to 257 elements a row, then a division by the deviation; narrow rows can be nearly constant',
  },
  cases: [
    { params: { rows: 1, width: 1, epsilon: 1e-5 } },
    { params: { rows: 7, width: 13, epsilon: 1e-5 } },
    { params: { rows: 32, width: 64, epsilon: 1e-5 } },
    { params: { rows: 3, width: 257, epsilon: 1e-3 } },
    { params: { rows: 67, width: 17, epsilon: 1e-5 } },
  ],
});
