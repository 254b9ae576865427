// Transposition of a tensor of any rank: a copy in another order of its dimensions.

import { defineKernel, elementCount } from '../contract.ts';
import { maskedStrides, sizeParams, sizesOf, wholeMask } from '../sizes.ts';

const strideNames = ['s0', 's1', 's2', 's3', 's4', 's5'] as const;
const strideParams = { s0: 'i32', s1: 'i32', s2: 'i32', s3: 'i32', s4: 'i32', s5: 'i32' } as const;
export type StrideName = (typeof strideNames)[number];

/** Elements of x between neighbours along each dimension of y. */
export const stridesOf = (p: Readonly<Record<StrideName, number>>): readonly number[] =>
  strideNames.map((name) => p[name]);

/** `{ s0, …, s5 }` of up to six strides, for sizes padded with ones in front. */
export function stridesAsParams(strides: readonly number[]): Readonly<Record<StrideName, number>> {
  const padded = [...Array<number>(strideNames.length - strides.length).fill(0), ...strides];
  return Object.fromEntries(strideNames.map((name, k) => [name, padded[k]])) as Record<StrideName, number>;
}

/** Parameters of the case that takes dimension `order[k]` of `sizes` as its k-th. */
export function permuted(sizes: readonly number[], order: readonly number[]) {
  const strides = maskedStrides(sizes, wholeMask);
  const [d0, d1, d2, d3, d4, d5] = order.map((k) => sizes[k]);
  return { params: { d0, d1, d2, d3, d4, d5, ...stridesAsParams(order.map((k) => strides[k])) } };
}

export const kernel = defineKernel({
  name: 'permute',
  summary: 'y[i0, …, i5] = x[Σ i_k·s_k] over [d0, …, d5]: x in another order of its dimensions.',
  inputs: [{ name: 'x', shape: (p) => [elementCount(sizesOf(p))] }],
  outputs: [{ name: 'y', shape: sizesOf }],
  params: { ...sizeParams, ...strideParams },
  problem: (p) => {
    const last = sizesOf(p).reduce((sum, size, k) => sum + (size - 1) * stridesOf(p)[k], 0);
    const count = elementCount(sizesOf(p));
    return count > 0 && last !== count - 1 ? `strides ${stridesOf(p).join()} do not reach all ${count} elements` : null;
  },
  cost: (p) => ({ flops: 0, bytes: 8 * elementCount(sizesOf(p)) }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    permuted([1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]),
    permuted([1, 1, 1, 1, 7, 13], [0, 1, 2, 3, 5, 4]),
    permuted([1, 1, 1, 1, 64, 33], [0, 1, 2, 3, 5, 4]),
    permuted([1, 1, 3, 5, 4, 16], [0, 1, 2, 4, 3, 5]),
    permuted([1, 1, 3, 5, 7, 3], [0, 1, 5, 3, 2, 4]),
    permuted([2, 3, 1, 5, 2, 7], [5, 4, 3, 2, 1, 0]),
    permuted([3, 2, 2, 3, 2, 5], [3, 0, 5, 1, 4, 2]),
    permuted([1, 1, 1, 1, 1, 521], [0, 1, 2, 3, 4, 5]),
  ],
});
