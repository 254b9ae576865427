// Gradient of pool_positions: each pooled position has its share of dy, the others have 0.

import { defineKernel } from '../contract.ts';
import { poolCases, poolParams, poolTolerance } from '../pool_positions/kernel.ts';
import { lengthsOperand } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'pool_positions_grad',
  summary: 'dx[i, t] = dy[i] over the number of pooled positions where t is one of them, else 0.',
  inputs: [{ name: 'dy', shape: (p) => [p.batch, p.width] }, lengthsOperand],
  outputs: [{ name: 'dx', shape: (p) => [p.batch, p.length, p.width] }],
  params: poolParams,
  cost: (p) => ({ flops: p.batch * p.width, bytes: 4 * p.batch * p.width * (1 + p.length) }),
  tolerance: poolTolerance,
  cases: poolCases,
});
