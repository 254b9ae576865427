// Batch normalisation with the running statistics, for evaluation and prediction.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'batch_norm_inference',
  summary: 'y = (x − runningMean)/√(runningVariance + epsilon)·gamma + beta a channel of x [outer, channels, inner].',
  inputs: [
    { name: 'x', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'gamma', shape: (p) => [p.channels] },
    { name: 'beta', shape: (p) => [p.channels] },
    { name: 'runningMean', shape: (p) => [p.channels] },
    { name: 'runningVariance', shape: (p) => [p.channels], sample: (_, random) => uniform(random, 0.1, 2) },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.outer, p.channels, p.inner] }],
  params: { outer: 'i32', channels: 'i32', inner: 'i32', epsilon: 'f32' },
  cost: (p) => ({
    flops: 2 * p.outer * p.channels * p.inner,
    bytes: 8 * p.outer * p.channels * p.inner + 16 * p.channels,
  }),
  tolerance: { relative: 1e-6, absolute: 1e-6, why: 'five roundings, with cancellation between x and the mean' },
  cases: [
    { params: { outer: 1, channels: 1, inner: 1, epsilon: 1e-5 } },
    { params: { outer: 32, channels: 64, inner: 1, epsilon: 1e-5 } },
    { params: { outer: 31, channels: 7, inner: 1, epsilon: 1e-5 } },
    { params: { outer: 1, channels: 131, inner: 1, epsilon: 1e-3 } },
    { params: { outer: 5, channels: 3, inner: 49, epsilon: 1e-5 } },
    { params: { outer: 2, channels: 17, inner: 64, epsilon: 1e-5 } },
  ],
});
