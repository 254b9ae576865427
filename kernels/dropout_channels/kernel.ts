// Dropout of whole channels (Tompson et al. 2015): neighbouring pixels are too alike for dropping single ones to help.

import { defineKernel } from '../contract.ts';
import { word } from '../samples.ts';

export const kernel = defineKernel({
  name: 'dropout_channels',
  summary:
    'y = x/(1 − rate) in the planes that are kept, else 0. Plane i is drawn as element i of dropout. Applied to dy it is its ' +
    'own gradient.',
  inputs: [
    { name: 'x', shape: (p) => [p.planes, p.inner] },
    { name: 'counters', shape: (p) => [p.steps], type: 'u32', sample: (_, random) => word(random) },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.planes, p.inner] }],
  params: { planes: 'i32', inner: 'i32', rate: 'f32', seed: 'i32', stream: 'i32', steps: 'i32' },
  usesStep: true,
  cost: (p) => ({ flops: p.planes * p.inner, bytes: 8 * p.planes * p.inner }),
  tolerance: { relative: 2e-7, absolute: 0, why: 'the mask is exact; the scale and the product round once each' },
  cases: [
    { params: { planes: 1, inner: 1, rate: 0.5, seed: 1, stream: 0, steps: 1 } },
    { params: { planes: 7, inner: 9, rate: 0.5, seed: -7, stream: 3, steps: 1 } },
    { params: { planes: 67, inner: 16, rate: 0.1, seed: 42, stream: 1, steps: 3 }, step: 2 },
    { params: { planes: 32, inner: 49, rate: 0.25, seed: 123456789, stream: 2, steps: 2 }, step: 1 },
    { params: { planes: 129, inner: 3, rate: 0, seed: 5, stream: 5, steps: 1 } },
  ],
});
