// The loss of a two-class model with one logit, with its gradient.

import { defineKernel } from '../contract.ts';
import { normalWithOutliers, uniform, whole } from '../samples.ts';

export const kernel = defineKernel({
  name: 'binary_cross_entropy',
  summary:
    'With t′ = t·(1 − s) + s/2 for smoothing s, w = weights[t], W = Σw: ' +
    'loss[step] = Σ w·(max(z, 0) − z·t′ + ln(1 + e^−|z|)) / W, gradient = w·(sigmoid(z) − t′)/W.',
  inputs: [
    { name: 'logits', shape: (p) => [p.batch], sample: (_, random, index) => normalWithOutliers(random, index, 40) },
    { name: 'target', shape: (p) => [p.batch], sample: (_, random) => whole(random, 2) },
    { name: 'weights', shape: () => [2], optional: true, sample: (_, random) => uniform(random, 0.5, 2) },
  ],
  outputs: [
    { name: 'loss', shape: (p) => [p.steps], inPlace: true },
    { name: 'gradient', shape: (p) => [p.batch], optional: true },
  ],
  params: { batch: 'i32', smoothing: 'f32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 12 * p.batch, bytes: 12 * p.batch }),
  tolerance: {
    relative: 2e-6,
    absolute: 1e-7,
    why: 'one exponential and one logarithm an element, a float32 mean of up to 131 rows',
  },
  cases: [
    { params: { batch: 1, smoothing: 0, steps: 1 }, absent: ['weights'] },
    { params: { batch: 32, smoothing: 0, steps: 3 }, absent: ['weights'], step: 2 },
    { params: { batch: 131, smoothing: 0.1, steps: 2 }, step: 1 },
    { params: { batch: 7, smoothing: 0, steps: 1 }, absent: ['gradient'] },
    { params: { batch: 19, smoothing: 0.2, steps: 1 }, absent: ['weights', 'gradient'] },
  ],
});
