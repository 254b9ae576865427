// Gradients of a dense layer's weight and bias in one pass over the batch.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'dense_weight_grad',
  summary: 'dw = xᵀ·dy, db = column sums of dy.',
  inputs: [
    { name: 'x', shape: (p) => [p.batch, p.inputs] },
    { name: 'dy', shape: (p) => [p.batch, p.units] },
  ],
  outputs: [
    { name: 'dw', shape: (p) => [p.inputs, p.units] },
    { name: 'db', shape: (p) => [p.units], optional: true },
  ],
  params: { batch: 'i32', inputs: 'i32', units: 'i32' },
  cost: (p) => ({
    flops: 2 * p.batch * p.inputs * p.units + p.batch * p.units,
    bytes: 4 * (p.batch * (p.inputs + p.units) + p.inputs * p.units + p.units),
  }),
  tolerance: {
    relative: 3e-6,
    absolute: 1e-6,
    why: 'a float32 sum over the batch: the error grows like √batch·2⁻²⁴ relative to the largest sums, batch ≤ 300 in the cases',
  },
  cases: [
    { params: { batch: 1, inputs: 1, units: 1 } },
    { params: { batch: 32, inputs: 20, units: 64 } },
    { params: { batch: 32, inputs: 32, units: 1 } },
    { params: { batch: 16, inputs: 64, units: 32 }, absent: ['db'] },
    { params: { batch: 1, inputs: 13, units: 7 } },
    { params: { batch: 7, inputs: 1, units: 17 } },
    { params: { batch: 31, inputs: 37, units: 41 } },
    { params: { batch: 300, inputs: 67, units: 10 } },
    { params: { batch: 129, inputs: 130, units: 131 }, absent: ['db'] },
  ],
});
