// Gradient of layer normalisation.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'layer_norm_grad',
  summary:
    'With x̂ = (x − mean)·inverseDeviation and g = dy·gamma a row: ' +
    'dx = inverseDeviation·(g − avg(g) − x̂·avg(g·x̂)); dgamma = Σdy·x̂ and dbeta = Σdy over the rows.',
  inputs: [
    { name: 'dy', shape: (p) => [p.rows, p.width] },
    { name: 'x', shape: (p) => [p.rows, p.width] },
    { name: 'gamma', shape: (p) => [p.width] },
    { name: 'mean', shape: (p) => [p.rows], sample: (_, random) => uniform(random, -0.2, 0.2) },
    { name: 'inverseDeviation', shape: (p) => [p.rows], sample: (_, random) => uniform(random, 0.7, 1.4) },
  ],
  outputs: [
    { name: 'dx', shape: (p) => [p.rows, p.width] },
    { name: 'dgamma', shape: (p) => [p.width] },
    { name: 'dbeta', shape: (p) => [p.width] },
  ],
  params: { rows: 'i32', width: 'i32' },
  cost: (p) => ({ flops: 14 * p.rows * p.width, bytes: 12 * p.rows * p.width + 8 * p.rows + 12 * p.width }),
  tolerance: { relative: 3e-6, absolute: 2e-6, why: 'float32 sums over up to 257 elements a row or column' },
  cases: [
    { params: { rows: 1, width: 1 } },
    { params: { rows: 7, width: 13 } },
    { params: { rows: 32, width: 64 } },
    { params: { rows: 3, width: 257 } },
    { params: { rows: 131, width: 17 } },
    { params: { rows: 45, width: 150 } },
  ],
});
