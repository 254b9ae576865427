// Adam and AdamW over all parameters in one call. D. P. Kingma, J. Ba, "Adam", ICLR 2015; I. Loshchilov, F. Hutter,
// "Decoupled Weight Decay Regularization", ICLR 2019; the arithmetic follows PyTorch's.

import { defineKernel } from '../contract.ts';
import { copiesOfParameters, optimizerInputs, optimizerState, squaredState } from '../optimizer.ts';

const usual = {
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  decoupled: 0,
  clip: 0,
  chunks: 0,
  steps: 1,
  scheduled: 0,
};

export const kernel = defineKernel({
  name: 'adam',
  summary:
    'g = scale·gradient (+ weightDecay·p if not decoupled; else p ← p·(1 − lr·weightDecay)); mean ← β₁·mean + (1 − β₁)·g; ' +
    'variance ← β₂·variance + (1 − β₂)·g²; p ← p − lr/(1 − β₁ᵗ)·mean/(√(variance/(1 − β₂ᵗ)) + epsilon). ' +
    'With `scheduled` weightDecay counts scalars[step, 3] times. Decay acts on the first decayCount elements; scale = f·min(1, clip/(f·√Σpartials + 1e-6)), f without partials; f = scaling[2], 1 without, and 0: nothing changes.',
  inputs: optimizerInputs,
  outputs: [optimizerState('parameters'), optimizerState('mean'), squaredState('variance'), copiesOfParameters],
  params: {
    count: 'i32',
    decayCount: 'i32',
    beta1: 'f32',
    beta2: 'f32',
    epsilon: 'f32',
    weightDecay: 'f32',
    decoupled: 'i32',
    clip: 'f32',
    chunks: 'i32',
    steps: 'i32',
    scheduled: 'i32',
  },
  usesStep: true,
  cost: (p) => ({ flops: 14 * p.count, bytes: 28 * p.count }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'a dozen roundings an element' },
  cases: [
    { params: { ...usual, count: 1, decayCount: 0 }, absent: ['partials', 'scaling'] },
    { params: { ...usual, count: 3457, decayCount: 0 }, absent: ['partials', 'scaling', 'copies'] },
    {
      params: { ...usual, count: 67, decayCount: 53, weightDecay: 0.1, steps: 3 },
      absent: ['partials', 'scaling'],
      step: 2,
    },
    { params: { ...usual, count: 1031, decayCount: 1031, weightDecay: 0.1, decoupled: 1, clip: 1, chunks: 7 } },
    {
      params: { ...usual, count: 131, decayCount: 17, weightDecay: 0.2, decoupled: 1, clip: 100, chunks: 1, steps: 2 },
      step: 1,
    },
    {
      params: { ...usual, count: 70, decayCount: 66, weightDecay: 0.5, decoupled: 1, scheduled: 1 },
      absent: ['partials', 'scaling', 'copies'],
    },
    { params: { ...usual, count: 1031, decayCount: 17, weightDecay: 0.1 }, absent: ['partials'] },
    { params: { ...usual, count: 67, decayCount: 53, weightDecay: 0.1, clip: 1, chunks: 7, steps: 3 } },
    { params: { ...usual, count: 1030, decayCount: 53, clip: 1, chunks: 7 }, absent: ['scaling', 'copies'] },
    { params: { ...usual, count: 29, decayCount: 5, weightDecay: 0.01, clip: 0.5, chunks: 64 } },
  ],
});
