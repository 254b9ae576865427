// RMSprop (not centred) over all parameters in one call, as PyTorch's. T. Tieleman, G. Hinton, lecture 6.5, 2012.

import { defineKernel } from '../contract.ts';
import { copiesOfParameters, optimizerInputs, optimizerState, squaredState } from '../optimizer.ts';

const usual = { alpha: 0.99, epsilon: 1e-8, momentum: 0, weightDecay: 0, clip: 0, chunks: 0, steps: 1 };

export const kernel = defineKernel({
  name: 'rmsprop',
  summary:
    'g = scale·gradient + weightDecay·p; square ← alpha·square + (1 − alpha)·g²; u = g/(√square + epsilon); with a velocity ' +
    'v ← momentum·v + u and u ← v; p ← p − lr·u. Decay acts on the first decayCount elements; ' +
    'scale = f·min(1, clip/(f·√Σpartials + 1e-6)), f without partials; f = scaling[2], 1 without, and 0: nothing changes.',
  inputs: optimizerInputs,
  outputs: [
    optimizerState('parameters'),
    squaredState('square'),
    { ...optimizerState('velocity'), optional: true },
    copiesOfParameters,
  ],
  params: {
    count: 'i32',
    decayCount: 'i32',
    alpha: 'f32',
    epsilon: 'f32',
    momentum: 'f32',
    weightDecay: 'f32',
    clip: 'f32',
    chunks: 'i32',
    steps: 'i32',
  },
  usesStep: true,
  cost: (p) => ({ flops: 10 * p.count, bytes: 28 * p.count }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'ten roundings an element' },
  cases: [
    { params: { ...usual, count: 1, decayCount: 0 }, absent: ['partials', 'scaling', 'velocity'] },
    { params: { ...usual, count: 1031, decayCount: 0 }, absent: ['partials', 'scaling', 'velocity', 'copies'] },
    {
      params: { ...usual, count: 67, decayCount: 53, momentum: 0.9, weightDecay: 0.1, steps: 3 },
      absent: ['partials', 'scaling'],
      step: 2,
    },
    { params: { ...usual, count: 67, decayCount: 53, weightDecay: 0.1, steps: 3 }, absent: ['partials', 'copies'] },
    { params: { ...usual, count: 133, decayCount: 131, clip: 1, chunks: 7 }, absent: ['scaling'] },
    {
      params: { ...usual, count: 131, decayCount: 131, momentum: 0.5, weightDecay: 0.1, clip: 1, chunks: 7, steps: 2 },
      step: 1,
    },
    {
      params: { ...usual, count: 29, decayCount: 3, weightDecay: 0.3, clip: 50, chunks: 2 },
      absent: ['velocity', 'copies'],
    },
  ],
});
