// The mean of each window. A window as large as the plane is global average pooling.

import { defineKernel } from '../contract.ts';
import { pooledShape, poolingBytes, poolingCases, poolingFlops, poolingParams, unpooledShape } from '../pooling.ts';

export const kernel = defineKernel({
  name: 'average_pool',
  summary:
    'y = the sum of each window, divided by windowHeight·windowWidth: zeros beyond the border count, as in PyTorch.',
  inputs: [{ name: 'x', shape: unpooledShape }],
  outputs: [{ name: 'y', shape: pooledShape }],
  params: poolingParams,
  cost: (p) => ({ flops: poolingFlops(p), bytes: poolingBytes(p) }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'a float32 sum of at most 64 elements' },
  cases: poolingCases.map((params) => ({ params })),
});
