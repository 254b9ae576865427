// Sums and means over any dimensions of a tensor.

import { defineKernel, elementCount } from '../contract.ts';
import { maskedSizes, sizeParams, sizesOf, wholeMask } from '../sizes.ts';

const ones = { d0: 1, d1: 1, d2: 1, d3: 1, d4: 1, d5: 1 };

export const kernel = defineKernel({
  name: 'reduce',
  summary: 'y = scale·Σ x over the dimensions of [d0, …, d5] whose bits `kept` lacks, in the order of the elements.',
  inputs: [{ name: 'x', shape: sizesOf }],
  outputs: [{ name: 'y', shape: (p) => maskedSizes(sizesOf(p), p.kept) }],
  params: { ...sizeParams, kept: 'i32', scale: 'f32' },
  cost: (p) => {
    const count = elementCount(sizesOf(p));
    const kept = elementCount(maskedSizes(sizesOf(p), p.kept));
    return { flops: count, bytes: 4 * (count + kept) };
  },
  tolerance: { relative: 3e-6, absolute: 2e-6, why: 'a float32 sum of up to 1,500 elements' },
  cases: [
    { params: { ...ones, kept: 0, scale: 1 } },
    { params: { ...ones, d5: 1031, kept: 0, scale: 1 / 1031 } },
    { params: { ...ones, d4: 33, d5: 17, kept: 16, scale: 1 } },
    { params: { ...ones, d4: 33, d5: 17, kept: 32, scale: 0.5 } },
    { params: { ...ones, d4: 300, d5: 67, kept: 32, scale: 1 } },
    { params: { ...ones, d4: 5, d5: 300, kept: 16, scale: 1 } },
    { params: { ...ones, d3: 5, d4: 7, d5: 19, kept: 16, scale: 1 } },
    { params: { ...ones, d3: 5, d4: 7, d5: 19, kept: 40, scale: 1 / 7 } },
    { params: { d0: 2, d1: 3, d2: 2, d3: 5, d4: 3, d5: 7, kept: 0b101010, scale: 1 } },
    { params: { d0: 3, d1: 2, d2: 5, d3: 2, d4: 3, d5: 5, kept: 0b010101, scale: 1 } },
    { params: { ...ones, d4: 3, d5: 5, kept: wholeMask, scale: -2 } },
  ],
});
