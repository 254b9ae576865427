// Losses for numbers, with their gradients: mean squared, mean absolute and Huber's (as PyTorch's HuberLoss).

import { defineKernel } from '../contract.ts';

/** Values of the parameter `kind`. */
export const regressionLossKinds = { mse: 0, mae: 1, huber: 2 } as const;
export type RegressionLossKind = keyof typeof regressionLossKinds;
const { mse, mae, huber } = regressionLossKinds;

export const kernel = defineKernel({
  name: 'regression_loss',
  summary:
    'loss[step] = mean of l(d), gradient = l′(d)/(batch·targets), d = prediction − target; kind 0: l = d²; 1: |d|; ' +
    '2: d²/2 if |d| ≤ delta, else delta·(|d| − delta/2).',
  inputs: [
    { name: 'prediction', shape: (p) => [p.batch, p.targets] },
    { name: 'target', shape: (p) => [p.batch, p.targets] },
  ],
  outputs: [
    { name: 'loss', shape: (p) => [p.steps], inPlace: true },
    { name: 'gradient', shape: (p) => [p.batch, p.targets], optional: true },
  ],
  params: { batch: 'i32', targets: 'i32', kind: 'i32', delta: 'f32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: 5 * p.batch * p.targets, bytes: 12 * p.batch * p.targets }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'a float32 mean of up to 393 elements' },
  cases: [
    { params: { batch: 1, targets: 1, kind: mse, delta: 0, steps: 1 } },
    { params: { batch: 32, targets: 1, kind: mse, delta: 0, steps: 3 }, step: 2 },
    { params: { batch: 131, targets: 3, kind: mse, delta: 0, steps: 1 } },
    { params: { batch: 31, targets: 1, kind: mae, delta: 0, steps: 2 }, step: 1 },
    { params: { batch: 67, targets: 5, kind: huber, delta: 0.7, steps: 1 } },
    { params: { batch: 13, targets: 1, kind: huber, delta: 1, steps: 1 }, absent: ['gradient'] },
    { params: { batch: 7, targets: 2, kind: mae, delta: 0, steps: 1 }, absent: ['gradient'] },
    { params: { batch: 17, targets: 1, kind: mse, delta: 0, steps: 2 }, absent: ['gradient'], step: 1 },
  ],
});
