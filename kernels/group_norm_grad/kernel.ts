// Gradient of group normalisation.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'group_norm_grad',
  summary:
    'With x̂ = (x − mean)·inverseDeviation: dbeta = Σdy and dgamma = Σdy·x̂ a channel; with g = gamma·dy, a group of n elements: ' +
    'dx = inverseDeviation·(g − Σg/n − x̂·Σg·x̂/n).',
  inputs: [
    { name: 'dy', shape: (p) => [p.batch, p.channels, p.inner] },
    { name: 'x', shape: (p) => [p.batch, p.channels, p.inner] },
    { name: 'gamma', shape: (p) => [p.channels] },
    { name: 'mean', shape: (p) => [p.batch, p.groups], sample: (_, random) => uniform(random, -0.2, 0.2) },
    { name: 'inverseDeviation', shape: (p) => [p.batch, p.groups], sample: (_, random) => uniform(random, 0.7, 1.4) },
  ],
  outputs: [
    { name: 'dx', shape: (p) => [p.batch, p.channels, p.inner] },
    { name: 'dgamma', shape: (p) => [p.channels] },
    { name: 'dbeta', shape: (p) => [p.channels] },
  ],
  params: { batch: 'i32', channels: 'i32', inner: 'i32', groups: 'i32' },
  cost: (p) => ({ flops: 12 * p.batch * p.channels * p.inner, bytes: 12 * p.batch * p.channels * p.inner }),
  tolerance: { relative: 3e-6, absolute: 3e-6, why: 'float32 sums over at most 600 elements' },
  cases: [
    { params: { batch: 1, channels: 1, inner: 1, groups: 1 } },
    { params: { batch: 5, channels: 6, inner: 49, groups: 3 } },
    { params: { batch: 3, channels: 8, inner: 64, groups: 1 } },
    { params: { batch: 3, channels: 7, inner: 5, groups: 7 } },
    { params: { batch: 2, channels: 12, inner: 33, groups: 2 } },
  ],
});
