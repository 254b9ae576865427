// Batch normalisation with the statistics of the batch, for training. x is [outer, channels, inner]: outer the batch,
// inner the pixels of an image (1 for a table). S. Ioffe, C. Szegedy, "Batch Normalization", ICML 2015.

import { activationCodes } from '../activations.ts';
import { defineKernel } from '../contract.ts';
import { uniform } from '../samples.ts';

const { none, relu, relu6, leaky_relu, silu } = activationCodes;
const usual = { epsilon: 1e-5, momentum: 0.1, activation: none, slope: 0 };

export const kernel = defineKernel({
  name: 'batch_norm',
  summary:
    'y = f((x − mean)·inverseDeviation·gamma + beta) a channel, inverseDeviation = 1/√(biased variance + epsilon); ' +
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
  params: {
    outer: 'i32',
    channels: 'i32',
    inner: 'i32',
    epsilon: 'f32',
    momentum: 'f32',
    activation: 'i32',
    slope: 'f32',
  },
  cost: (p) => ({
    flops: 8 * p.outer * p.channels * p.inner,
    bytes: 8 * p.outer * p.channels * p.inner + 32 * p.channels,
  }),
  tolerance: {
    relative: 5e-6,
    absolute: 1e-6,
    why: 'sums over up to 4,761 elements a channel in float32, then a division by the deviation, at least 0.2 in the cases',
  },
  cases: [
    { params: { ...usual, outer: 1, channels: 1, inner: 1 } },
    { params: { ...usual, outer: 32, channels: 64, inner: 1 } },
    { params: { ...usual, outer: 31, channels: 7, inner: 1, activation: relu } },
    { params: { ...usual, outer: 600, channels: 37, inner: 1, epsilon: 1e-3, momentum: 0.01 } },
    { params: { ...usual, outer: 5, channels: 3, inner: 49 } },
    { params: { ...usual, outer: 4, channels: 17, inner: 64, activation: relu } },
    { params: { ...usual, outer: 1, channels: 5, inner: 113, momentum: 1, activation: relu6 } },
    { params: { ...usual, outer: 9, channels: 2, inner: 3, activation: leaky_relu, slope: 0.1 } },
    { params: { ...usual, outer: 3, channels: 70, inner: 9, activation: silu } },
    { params: { ...usual, outer: 2, channels: 3, inner: 299, activation: relu } },
    { params: { ...usual, outer: 3, channels: 5, inner: 81, activation: silu } },
    { params: { ...usual, outer: 33, channels: 19, inner: 1, activation: leaky_relu, slope: 0.1 } },
    { params: { ...usual, outer: 9, channels: 3, inner: 529, activation: relu } },
  ],
});
