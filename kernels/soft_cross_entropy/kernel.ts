// Cross-entropy with a share for each class as the target, for mixed examples. PyTorch's cross_entropy with probabilities.

import { defineKernel } from '../contract.ts';
import { normalWithOutliers, uniform } from '../samples.ts';

export const kernel = defineKernel({
  name: 'soft_cross_entropy',
  summary:
    'With p = softmax(logits), C classes and q_c = weight_c·((1 − smoothing)·target_c + smoothing/C): ' +
    'loss[step] = −ΣΣ q_c·ln p_c / batch, gradient_c = (p_c·Σq − q_c)/batch.',
  inputs: [
    {
      name: 'logits',
      shape: (p) => [p.batch, p.classes],
      sample: (_, random, index) => normalWithOutliers(random, index, 40),
    },
    { name: 'target', shape: (p) => [p.batch, p.classes], sample: (p, random) => random() / p.classes },
    { name: 'weights', shape: (p) => [p.classes], optional: true, sample: (_, random) => uniform(random, 0.5, 2) },
  ],
  outputs: [
    { name: 'loss', shape: (p) => [p.steps], inPlace: true },
    { name: 'gradient', shape: (p) => [p.batch, p.classes], optional: true },
  ],
  params: { batch: 'i32', classes: 'i32', smoothing: 'f32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 8 * p.batch * p.classes, bytes: 12 * p.batch * p.classes }),
  tolerance: {
    relative: 2e-6,
    absolute: 1e-7,
    why: 'one exponential an element, one logarithm a row, a float32 mean of up to 131 rows',
  },
  cases: [
    { params: { batch: 1, classes: 1, smoothing: 0, steps: 1 }, absent: ['weights'] },
    { params: { batch: 32, classes: 10, smoothing: 0, steps: 3 }, absent: ['weights'], step: 2 },
    { params: { batch: 31, classes: 3, smoothing: 0.1, steps: 2 }, step: 1 },
    { params: { batch: 7, classes: 17, smoothing: 0.2, steps: 1 }, absent: ['weights'] },
    { params: { batch: 131, classes: 5, smoothing: 0, steps: 1 } },
    { params: { batch: 5, classes: 67, smoothing: 0, steps: 2 }, absent: ['weights', 'gradient'], step: 1 },
  ],
});
