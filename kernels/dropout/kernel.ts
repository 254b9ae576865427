// Dropout with counter-based random numbers: the mask depends on the seed, the layer's stream and the global step alone,
// so every device draws the same one, and the backward pass draws it again instead of keeping it.

import { defineKernel } from '../contract.ts';
import { word } from '../samples.ts';

export const kernel = defineKernel({
  name: 'dropout',
  summary:
    'y = x/(1 − rate) where kept, else 0; with scalars, the rate is rate·scalars[step, 3], rounded to float32. Element i takes word i&1 of threefry2x32(key (seed, stream), counter ' +
    '(i>>>1, counters[step])) and is kept if (word>>>8)·2⁻²⁴ ≥ rate. Applied to dy it is its own gradient.',
  inputs: [
    { name: 'x', shape: (p) => [p.count] },
    { name: 'counters', shape: (p) => [p.steps], type: 'u32', sample: (_, random) => word(random) },
    { name: 'scalars', shape: (p) => [p.steps, 4], optional: true, sample: (_, random) => random() },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.count] }],
  params: { count: 'i32', rate: 'f32', seed: 'i32', stream: 'i32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: p.count, bytes: 8 * p.count }),
  tolerance: { relative: 2e-7, absolute: 0, why: 'the mask is exact; the scale and the product round once each' },
  cases: [
    { params: { count: 1, rate: 0.5, seed: 1, stream: 0, steps: 1 }, absent: ['scalars'] },
    { params: { count: 2, rate: 0.5, seed: -7, stream: 3, steps: 1 }, absent: ['scalars'] },
    { params: { count: 67, rate: 0.1, seed: 42, stream: 1, steps: 3 }, absent: ['scalars'], step: 2 },
    { params: { count: 1035, rate: 0.3, seed: 42, stream: 1, steps: 3 }, step: 2 },
    { params: { count: 1031, rate: 0.25, seed: 123456789, stream: 2, steps: 2 }, absent: ['scalars'], step: 1 },
    { params: { count: 129, rate: 0, seed: 5, stream: 5, steps: 1 }, absent: ['scalars'] },
  ],
});
