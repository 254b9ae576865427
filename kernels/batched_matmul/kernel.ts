// Many products of the same shape: attention's scores and mixtures. M rows of a result, N columns, K the summed dimension; the
// products are numbered by four sizes, along some of which an operand repeats.

import { defineKernel, elementCount } from '../contract.ts';

const batchNames = ['b0', 'b1', 'b2', 'b3'] as const;
export type BatchName = (typeof batchNames)[number];

export const mostBatchDimensions = batchNames.length;

/** Sizes that number the products. */
export const batchSizes = (p: Readonly<Record<BatchName, number>>): readonly number[] =>
  batchNames.map((name) => p[name]);

/** Those of an operand: 1 along the dimensions whose bits its mask lacks. */
export function batchSizesOf(p: Readonly<Record<BatchName, number>>, mask: number): readonly number[] {
  return batchSizes(p).map((size, k) => (mask & (1 << k) ? size : 1));
}

/** `{ b0, …, b3 }` of up to four sizes, ones in front. */
export function batchAsParams(sizes: readonly number[]): Readonly<Record<BatchName, number>> {
  const padded = [...Array<number>(mostBatchDimensions - sizes.length).fill(1), ...sizes];
  return Object.fromEntries(batchNames.map((name, k) => [name, padded[k]])) as Record<BatchName, number>;
}

const one = { b0: 1, b1: 1, b2: 1, b3: 1, a: 15, b: 15, transposeA: 0, transposeB: 0, scale: 1 };

export const kernel = defineKernel({
  name: 'batched_matmul',
  summary:
    'c = scale·op(a)·op(b) for each of b0·b1·b2·b3 products; an operand repeats along the dimensions whose bits its mask ' +
    '(parameters a, b) lacks.',
  inputs: [
    { name: 'a', shape: (p) => [...batchSizesOf(p, p.a), ...(p.transposeA ? [p.k, p.m] : [p.m, p.k])] },
    { name: 'b', shape: (p) => [...batchSizesOf(p, p.b), ...(p.transposeB ? [p.n, p.k] : [p.k, p.n])] },
  ],
  outputs: [{ name: 'c', shape: (p) => [...batchSizes(p), p.m, p.n] }],
  params: {
    b0: 'i32',
    b1: 'i32',
    b2: 'i32',
    b3: 'i32',
    a: 'i32',
    b: 'i32',
    m: 'i32',
    n: 'i32',
    k: 'i32',
    transposeA: 'i32',
    transposeB: 'i32',
    scale: 'f32',
  },
  cost: (p) => {
    const count = (mask: number): number => elementCount(batchSizesOf(p, mask));
    return {
      flops: 2 * count(15) * p.m * p.n * p.k,
      bytes: 4 * (count(p.a) * p.m * p.k + count(p.b) * p.k * p.n + count(15) * p.m * p.n),
    };
  },
  tolerance: {
    relative: 3e-6,
    absolute: 1e-6,
    why: 'K float32 products are summed: the error grows like √K·2⁻²⁴ relative to the largest sums, K ≤ 401 in the cases',
  },
  cases: [
    { params: { ...one, m: 1, n: 1, k: 1 } },
    { params: { ...one, b3: 5, m: 7, n: 13, k: 11 } },
    { params: { ...one, b3: 2, m: 33, n: 65, k: 401 } },
    { params: { ...one, b2: 3, b3: 4, m: 16, n: 16, k: 8, transposeB: 1, scale: 0.35 } },
    { params: { ...one, b2: 3, b3: 4, m: 16, n: 8, k: 16, transposeA: 1 } },
    { params: { ...one, b2: 2, b3: 3, m: 5, n: 7, k: 9, transposeA: 1, transposeB: 1 } },
    { params: { ...one, b2: 5, b3: 3, m: 4, n: 12, k: 20, b: 8 } },
    { params: { ...one, b2: 5, b3: 3, m: 4, n: 12, k: 20, a: 4, b: 8, transposeB: 1 } },
    { params: { ...one, b0: 2, b1: 3, b2: 2, b3: 3, m: 3, n: 5, k: 7, a: 0b0110, b: 0b1101, scale: -1 } },
    { params: { ...one, m: 70, n: 90, k: 31, b: 0 } },
  ],
});
