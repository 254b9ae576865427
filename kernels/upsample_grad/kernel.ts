// Gradient of upsampling.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'upsample_grad',
  summary: 'dx[p,i,j] = the sum of dy over the factor × factor elements that repeat it.',
  inputs: [{ name: 'dy', shape: (p) => [p.planes, p.height * p.factor, p.width * p.factor] }],
  outputs: [{ name: 'dx', shape: (p) => [p.planes, p.height, p.width] }],
  params: { planes: 'i32', height: 'i32', width: 'i32', factor: 'i32' },
  cost: (p) => ({
    flops: p.planes * p.height * p.width * p.factor ** 2,
    bytes: 4 * p.planes * p.height * p.width * (1 + p.factor ** 2),
  }),
  tolerance: { relative: 4e-7, absolute: 1e-7, why: 'a float32 sum of at most 9 elements' },
  cases: [
    { params: { planes: 1, height: 1, width: 1, factor: 1 } },
    { params: { planes: 5, height: 7, width: 3, factor: 2 } },
    { params: { planes: 3, height: 8, width: 16, factor: 2 } },
    { params: { planes: 1, height: 5, width: 9, factor: 3 } },
  ],
});
