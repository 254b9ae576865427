// Gradient of max pooling. The place of each maximum is found again in x instead of being kept.

import { defineKernel } from '../contract.ts';
import { pooledShape, poolingBytes, poolingCases, poolingFlops, poolingParams, unpooledShape } from '../pooling.ts';

export const kernel = defineKernel({
  name: 'max_pool_grad',
  summary: 'Each dy goes to the largest x of its window, the first in row-major order if there are several (PyTorch).',
  inputs: [
    { name: 'dy', shape: pooledShape },
    {
      name: 'x',
      shape: unpooledShape,
      // Few different values, so that windows have several largest elements.
      sample: (_, random) => Math.floor(random() * 4),
    },
  ],
  outputs: [{ name: 'dx', shape: unpooledShape }],
  params: poolingParams,
  cost: (p) => ({ flops: poolingFlops(p), bytes: 2 * poolingBytes(p) }),
  tolerance: { relative: 3e-7, absolute: 1e-7, why: 'a sum of at most 9 elements where windows overlap' },
  cases: poolingCases.map((params) => ({ params })),
});
