// Sums over the planes of a channel: the gradient of a transposed convolution's bias.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'channel_sum',
  summary: 'y[c] = Σ x[o,c,i] over o and i.',
  inputs: [{ name: 'x', shape: (p) => [p.outer, p.channels, p.inner] }],
  outputs: [{ name: 'y', shape: (p) => [p.channels] }],
  params: { outer: 'i32', channels: 'i32', inner: 'i32' },
  cost: (p) => ({
    flops: p.outer * p.channels * p.inner,
    bytes: 4 * p.outer * p.channels * p.inner + 4 * p.channels,
  }),
  tolerance: { relative: 2e-6, absolute: 1e-6, why: 'a float32 sum of at most 603 elements' },
  cases: [
    { params: { outer: 1, channels: 1, inner: 1 } },
    { params: { outer: 3, channels: 5, inner: 7 } },
    { params: { outer: 9, channels: 17, inner: 67 } },
    { params: { outer: 2, channels: 3, inner: 64 } },
  ],
});
