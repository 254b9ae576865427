// Sums and products of tensors that repeat along some dimensions; with one operand, scaling and repeating it.

import { defineKernel, elementCount } from '../contract.ts';
import { maskedSizes, sizeParams, sizesOf, wholeMask } from '../sizes.ts';

export const binaryCodes = { add: 0, multiply: 1 } as const;
const { add, multiply } = binaryCodes;
const ones = { d0: 1, d1: 1, d2: 1, d3: 1, d4: 1, d5: 1 };
const whole = { a: wholeMask, b: wholeMask, scale: 1 };

export const kernel = defineKernel({
  name: 'broadcast_binary',
  summary:
    'c = a + scale·b (operation 0), c = scale·a·b (1) or, without b, c = scale·a, over [d0, …, d5]; an operand repeats along ' +
    'the dimensions whose bits its mask (parameters a, b) lacks.',
  inputs: [
    { name: 'a', shape: (p) => maskedSizes(sizesOf(p), p.a) },
    { name: 'b', shape: (p) => maskedSizes(sizesOf(p), p.b), optional: true },
  ],
  outputs: [{ name: 'c', shape: sizesOf }],
  params: { operation: 'i32', ...sizeParams, a: 'i32', b: 'i32', scale: 'f32' },
  cost: (p) => {
    const elements = (mask: number): number => elementCount(maskedSizes(sizesOf(p), mask));
    const count = elements(wholeMask);
    return { flops: count * (p.scale === 1 ? 1 : 2), bytes: 4 * (elements(p.a) + elements(p.b) + count) };
  },
  tolerance: { relative: 2e-7, absolute: 0, why: 'two roundings, of which the machine may leave one out' },
  cases: [
    { params: { ...ones, ...whole, operation: add } },
    { params: { ...ones, ...whole, operation: multiply, d5: 1031 } },
    { params: { ...ones, ...whole, operation: add, d4: 37, d5: 19, b: 32 } },
    { params: { ...ones, ...whole, operation: multiply, d4: 37, d5: 19, b: 16, scale: 0.3 } },
    { params: { ...ones, ...whole, operation: add, d4: 5, d5: 64, a: 32, b: 16, scale: -1 } },
    { params: { ...ones, ...whole, operation: multiply, d3: 3, d4: 7, d5: 5, b: 40 } },
    { params: { operation: add, d0: 2, d1: 3, d2: 2, d3: 5, d4: 3, d5: 7, a: 0b101011, b: 0b011101, scale: 0.5 } },
    { params: { operation: multiply, d0: 3, d1: 2, d2: 3, d3: 2, d4: 3, d5: 1, a: 0b110101, b: 0b101110, scale: 1 } },
    { params: { ...ones, ...whole, operation: add, d5: 129, scale: 0.125 }, absent: ['b'] },
    { params: { ...ones, ...whole, operation: add, d3: 4, d4: 9, d5: 13, a: 40, scale: 1 }, absent: ['b'] },
    { params: { ...ones, ...whole, operation: add, d4: 301, d5: 2, a: 16, scale: 3 }, absent: ['b'] },
  ],
});
