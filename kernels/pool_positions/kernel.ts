// One vector for a sequence of them: the mean of its real positions, the first or the last of them.

import { defineKernel } from '../contract.ts';
import { lengthsOperand } from '../token-codes.ts';

/** What is taken of the positions. */
export const poolCodes = { mean: 0, first: 1, last: 2 } as const;
export type PositionPool = keyof typeof poolCodes;

const cases = [
  { params: { batch: 1, length: 1, width: 1, pool: 0 } },
  { params: { batch: 5, length: 13, width: 7, pool: 0 } },
  { params: { batch: 5, length: 13, width: 7, pool: 1 } },
  { params: { batch: 5, length: 13, width: 9, pool: 2 } },
  { params: { batch: 17, length: 3, width: 130, pool: 2 } },
];

/** With lengths and without. */
export const poolCases = cases.flatMap((one) => [one, { ...one, absent: ['lengths'] }]);

export const poolParams = { batch: 'i32', length: 'i32', width: 'i32', pool: 'i32' } as const;

export const poolTolerance = { relative: 2e-6, absolute: 1e-7, why: 'a float32 sum of up to 13 positions' } as const;

export const kernel = defineKernel({
  name: 'pool_positions',
  summary:
    'y[i] = the mean of x[i, 0 … n − 1] (pool 0), x[i, 0] (1) or x[i, n − 1] (2); n = lengths[i], without lengths all positions.',
  inputs: [{ name: 'x', shape: (p) => [p.batch, p.length, p.width] }, lengthsOperand],
  outputs: [{ name: 'y', shape: (p) => [p.batch, p.width] }],
  params: poolParams,
  cost: (p) => ({
    flops: p.pool === 0 ? p.batch * p.length * p.width : 0,
    bytes: 4 * p.batch * p.width * (1 + (p.pool === 0 ? p.length : 1)),
  }),
  tolerance: poolTolerance,
  cases: poolCases,
});
