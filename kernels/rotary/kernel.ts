// Rotary places: pairs of values of a head are turned by an angle that grows with the position, so that the product of a query and a
// key depends on how far they are apart. J. Su et al., "RoFormer", 2021; halves paired as in Llama (value d with value d + size/2).

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'rotary',
  summary:
    'The first heads·size values of a position are turned in pairs: (a, b) → (a·cos − b·sin, b·cos + a·sin), backwards if inverse = 1; the others are copied. ' +
    'A row of the table is the cosines of a position, then the sines.',
  inputs: [
    { name: 'x', shape: (p) => [p.batch, p.length, p.width] },
    { name: 'table', shape: (p) => [p.length, p.size] },
  ],
  outputs: [{ name: 'y', shape: (p) => [p.batch, p.length, p.width] }],
  params: { batch: 'i32', length: 'i32', width: 'i32', heads: 'i32', size: 'i32', inverse: 'i32' },
  problem: ({ width, heads, size }) => {
    if (size % 2 !== 0) return `heads of ${size} values make no pairs`;
    return heads * size > width ? `${heads} heads of ${size} values in ${width}` : null;
  },
  cost: (p) => ({
    flops: 3 * p.batch * p.length * p.heads * p.size,
    bytes: 4 * p.length * (2 * p.batch * p.width + p.size),
  }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'two products and a sum' },
  cases: [
    { params: { batch: 1, length: 1, width: 2, heads: 1, size: 2, inverse: 0 } },
    { params: { batch: 3, length: 7, width: 24, heads: 4, size: 4, inverse: 0 } },
    { params: { batch: 3, length: 13, width: 33, heads: 3, size: 10, inverse: 1 } },
    { params: { batch: 5, length: 3, width: 96, heads: 2, size: 32, inverse: 1 } },
  ],
});
