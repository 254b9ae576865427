// Batch normalisation with the statistics of the batch, for training. x is [outer, channels, inner]: outer the batch,
// inner the pixels of an image (1 for a table). S. Ioffe, C. Szegedy, "Batch Normalization", ICML 2015.

import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'batch_norm',
  summary:
    'y = (x − mean)·inverseDeviation·gamma + beta a channel, inverseDeviation = 1/√(biased variance + epsilon); ' +
    'running ← (1 − momentum)·running + momentum·new, where the new variance is unbiased (biased for a single element).',
  inputs: [
    { name: 'x', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'gamma', shape: (p) => [p.channels] },
    { name: 'beta', shape: (p) => [p.channels] },
  ],
  outputs: [
    { name: 'y', shape: (p) => [p.outer, p.channels, p.inner] },
    { name: 'mean', shape: (p) => [p.channels] },
    { name: 'inverseDeviation', shape: (p) => [p.channels] },
    { name: 'runningMean', shape: (p) => [p.channels], inPlace: true },
    {
      name: 'runningVariance',
      shape: (p) => [p.channels],
      inPlace: true,
      sample: (_, random) => uniform(random, 0.1, 2),
    },
  ],
  params: { outer: 'i32', channels: 'i32', inner: 'i32', epsilon: 'f32', momentum: 'f32' },
  cost: (p) => ({
    flops: 8 * p.outer * p.channels * p.inner,
    bytes: 8 * p.outer * p.channels * p.inner + 32 * p.channels,
  }),
  tolerance: {
    relative: 5e-6,
    absolute: 1e-6,
    why: 'sums over up to 600 elements a channel in float32, then a division by the deviation, at least 0.2 in the cases',
  },
  cases: [
    { params: { outer: 1, channels: 1, inner: 1, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 32, channels: 64, inner: 1, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 31, channels: 7, inner: 1, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 600, channels: 37, inner: 1, epsilon: 1e-3, momentum: 0.01 } },
    { params: { outer: 5, channels: 3, inner: 49, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 4, channels: 17, inner: 64, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 1, channels: 5, inner: 113, epsilon: 1e-5, momentum: 1 } },
    { params: { outer: 9, channels: 2, inner: 3, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 3, channels: 70, inner: 9, epsilon: 1e-5, momentum: 0.1 } },
    { params: { outer: 2, channels: 3, inner: 299, epsilon: 1e-5, momentum: 0.1 } },
  ],
});
