// Partial sums for the norm of a gradient; the optimizers add them up. A fixed number of chunks keeps the order of the
// sum, and so its bits, independent of the number of threads.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'sum_squares',
  summary: 'partials[j] = Σ x² over the elements ⌊j·count/chunks⌋ … ⌊(j+1)·count/chunks⌋ − 1.',
  inputs: [{ name: 'x', shape: (p) => [p.count] }],
  outputs: [{ name: 'partials', shape: (p) => [p.chunks] }],
  params: { count: 'i32', chunks: 'i32' },
  cost: (p) => ({ flops: 2 * p.count, bytes: 4 * (p.count + p.chunks) }),
  tolerance: { relative: 2e-6, absolute: 0, why: 'float32 sums of up to 1,031 squares' },
  cases: [
    { params: { count: 1, chunks: 1 } },
    { params: { count: 1031, chunks: 1 } },
    { params: { count: 1031, chunks: 8 } },
    { params: { count: 5, chunks: 7 } },
    { params: { count: 4099, chunks: 64 } },
  ],
});
