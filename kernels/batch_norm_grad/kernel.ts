// Gradient of batch normalisation through the statistics of the batch.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'batch_norm_grad',
  summary:
    'With x̂ = (x − mean)·inverseDeviation a channel: dbeta = Σdy, dgamma = Σdy·x̂, ' +
    'dx = gamma·inverseDeviation·(dy − dbeta/n − x̂·dgamma/n), n = outer·inner.',
  inputs: [
    { name: 'dy', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'x', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'gamma', shape: (p) => [p.channels] },
    { name: 'mean', shape: (p) => [p.channels], sample: (_, random) => uniform(random, -0.2, 0.2) },
    { name: 'inverseDeviation', shape: (p) => [p.channels], sample: (_, random) => uniform(random, 0.7, 1.4) },
  ],
  outputs: [
    { name: 'dx', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'dgamma', shape: (p) => [p.channels] },
    { name: 'dbeta', shape: (p) => [p.channels] },
  ],
  params: { outer: 'i32', channels: 'i32', inner: 'i32' },
  cost: (p) => ({
    flops: 11 * p.outer * p.channels * p.inner,
    bytes: 12 * p.outer * p.channels * p.inner + 20 * p.channels,
  }),
  tolerance: { relative: 3e-6, absolute: 2e-6, why: 'float32 sums over up to 600 elements a channel' },
  cases: [
    { params: { outer: 1, channels: 1, inner: 1 } },
    { params: { outer: 32, channels: 64, inner: 1 } },
    { params: { outer: 31, channels: 7, inner: 1 } },
    { params: { outer: 600, channels: 37, inner: 1 } },
    { params: { outer: 5, channels: 3, inner: 49 } },
    { params: { outer: 4, channels: 17, inner: 64 } },
    { params: { outer: 9, channels: 2, inner: 3 } },
    { params: { outer: 3, channels: 70, inner: 9 } },
    { params: { outer: 2, channels: 3, inner: 299 } },
    { params: { outer: 9, channels: 3, inner: 529 } },
  ],
});
