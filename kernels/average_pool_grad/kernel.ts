// Gradient of average pooling: spreads each dy evenly over its window.

import { defineKernel } from '../contract.ts';
import { pooledShape, poolingBytes, poolingCases, poolingFlops, poolingParams, unpooledShape } from '../pooling.ts';

export const kernel = defineKernel({
  name: 'average_pool_grad',
  summary: 'dx = the sum of dy/(windowHeight·windowWidth) over the windows an element lies in.',
  inputs: [{ name: 'dy', shape: pooledShape }],
  outputs: [{ name: 'dx', shape: unpooledShape }],
  params: poolingParams,
  cost: (p) => ({ flops: poolingFlops(p), bytes: poolingBytes(p) }),
  tolerance: { relative: 5e-7, absolute: 1e-7, why: 'a float32 sum of at most 9 quotients' },
  cases: poolingCases.map((params) => ({ params })),
});
