// Group normalisation: standardises each group of channels of each example. Wu & He 2018; PyTorch's group_norm.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'group_norm',
  summary:
    'y = gamma·(x − mean)·inverseDeviation + beta; mean and inverseDeviation = 1/√(variance + epsilon) of each group of channels.',
  inputs: [
    { name: 'x', shape: (p) => [p.batch, p.channels, p.inner] },
    { name: 'gamma', shape: (p) => [p.channels] },
    { name: 'beta', shape: (p) => [p.channels] },
  ],
  outputs: [
    { name: 'y', shape: (p) => [p.batch, p.channels, p.inner] },
    { name: 'mean', shape: (p) => [p.batch, p.groups] },
    { name: 'inverseDeviation', shape: (p) => [p.batch, p.groups] },
  ],
  params: { batch: 'i32', channels: 'i32', inner: 'i32', groups: 'i32', epsilon: 'f32' },
  cost: (p) => ({ flops: 8 * p.batch * p.channels * p.inner, bytes: 8 * p.batch * p.channels * p.inner }),
  tolerance: {
    relative: 3e-6,
    absolute: 2e-6,
    why: 'float32 sums over at most 600 elements; 1/√epsilon at one element',
  },
  cases: [
    { params: { batch: 1, channels: 1, inner: 1, groups: 1, epsilon: 1e-5 } },
    { params: { batch: 5, channels: 6, inner: 49, groups: 3, epsilon: 1e-5 } },
    { params: { batch: 3, channels: 8, inner: 64, groups: 1, epsilon: 1e-3 } },
    { params: { batch: 3, channels: 7, inner: 5, groups: 7, epsilon: 1e-5 } },
    { params: { batch: 2, channels: 12, inner: 33, groups: 2, epsilon: 1e-5 } },
  ],
});
