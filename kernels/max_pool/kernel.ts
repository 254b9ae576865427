// The largest element of each window.

import { defineKernel } from '../contract.ts';
import { pooledShape, poolingBytes, poolingCases, poolingFlops, poolingParams, unpooledShape } from '../pooling.ts';

export const kernel = defineKernel({
  name: 'max_pool',
  summary: 'y = the largest element of each window; what lies beyond the border counts for nothing.',
  inputs: [{ name: 'x', shape: unpooledShape }],
  outputs: [{ name: 'y', shape: pooledShape }],
  params: poolingParams,
  cost: (p) => ({ flops: poolingFlops(p), bytes: poolingBytes(p) }),
  tolerance: { relative: 0, absolute: 0, why: 'a choice' },
  cases: poolingCases.map((params) => ({ params })),
});
