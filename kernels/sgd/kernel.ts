// Stochastic gradient descent with momentum and Nesterov's variant, over all parameters in one call, as PyTorch's SGD.

import { defineKernel } from '../contract.ts';
import { copiesOfParameters, optimizerInputs, optimizerState } from '../optimizer.ts';

const usual = { momentum: 0.9, nesterov: 0, weightDecay: 0, clip: 0, chunks: 0, steps: 1 };

export const kernel = defineKernel({
  name: 'sgd',
  summary:
    'g = scale·gradient + weightDecay·p; with a velocity v ← momentum·v + g, and then g ← v, or g + momentum·v if nesterov; ' +
    'p ← p − lr·g. Decay acts on the first decayCount elements; scale = f·min(1, clip/(f·√Σpartials + 1e-6)), f without partials; f = scaling[2], 1 without, and 0: nothing changes.',
  inputs: optimizerInputs,
  outputs: [optimizerState('parameters'), { ...optimizerState('velocity'), optional: true }, copiesOfParameters],
  params: {
    count: 'i32',
    decayCount: 'i32',
    momentum: 'f32',
    nesterov: 'i32',
    weightDecay: 'f32',
    clip: 'f32',
    chunks: 'i32',
    steps: 'i32',
  },
  usesStep: true,
  cost: (p) => ({ flops: 6 * p.count, bytes: 20 * p.count }),
  tolerance: { relative: 5e-7, absolute: 1e-7, why: 'half a dozen roundings an element' },
  cases: [
    { params: { ...usual, count: 1, decayCount: 0, momentum: 0 }, absent: ['partials', 'scaling', 'velocity'] },
    { params: { ...usual, count: 1031, decayCount: 0 }, absent: ['partials', 'scaling', 'copies'] },
    {
      params: { ...usual, count: 67, decayCount: 53, nesterov: 1, weightDecay: 0.1, steps: 3 },
      absent: ['partials', 'scaling'],
      step: 2,
    },
    { params: { ...usual, count: 67, decayCount: 53, weightDecay: 0.1, steps: 3 }, absent: ['partials', 'copies'] },
    { params: { ...usual, count: 133, decayCount: 131, clip: 1, chunks: 7 }, absent: ['scaling'] },
    { params: { ...usual, count: 131, decayCount: 131, weightDecay: 0.1, clip: 1, chunks: 7, steps: 2 }, step: 1 },
    {
      params: { ...usual, count: 29, decayCount: 3, momentum: 0, weightDecay: 0.3, clip: 50, chunks: 2 },
      absent: ['velocity', 'copies'],
    },
  ],
});
