// Enlarges images by repeating elements (nearest neighbour).

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'upsample',
  summary: 'y[p,i,j] = x[p, ⌊i/factor⌋, ⌊j/factor⌋]',
  inputs: [{ name: 'x', shape: (p) => [p.planes, p.height, p.width] }],
  outputs: [{ name: 'y', shape: (p) => [p.planes, p.height * p.factor, p.width * p.factor] }],
  params: { planes: 'i32', height: 'i32', width: 'i32', factor: 'i32' },
  cost: (p) => ({ flops: 0, bytes: 4 * p.planes * p.height * p.width * (1 + p.factor ** 2) }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { planes: 1, height: 1, width: 1, factor: 1 } },
    { params: { planes: 5, height: 7, width: 3, factor: 2 } },
    { params: { planes: 3, height: 8, width: 16, factor: 2 } },
    { params: { planes: 2, height: 5, width: 9, factor: 3 } },
  ],
});
