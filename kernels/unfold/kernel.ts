// Windows of sequences beside each other: what a one-dimensional convolution multiplies by its weights.

import { defineKernel } from '../contract.ts';
import { sequenceOperand, windowCases, windowParams, windowsOperand } from '../windows-shape.ts';
import { lengthsOperand } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'unfold',
  summary: 'y[i, t, k] = x[i, t − before + k·dilation], 0 where that is no real position.',
  inputs: [sequenceOperand('x'), lengthsOperand],
  outputs: [windowsOperand('y')],
  params: windowParams,
  cost: (p) => ({ flops: 0, bytes: 4 * p.batch * p.length * p.width * (1 + p.taps) }),
  tolerance: { relative: 0, absolute: 0, why: 'values are copied' },
  cases: windowCases,
});
