// Gradient of the windows of sequences.

import { defineKernel } from '../contract.ts';
import { sequenceOperand, windowCases, windowParams, windowsOperand } from '../windows-shape.ts';
import { lengthsOperand } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'unfold_grad',
  summary:
    'dx[i, p] = the sum of dy[i, t, k] over all windows t and taps k at position p, in the order of the taps; 0 for padding.',
  inputs: [windowsOperand('dy'), lengthsOperand],
  outputs: [sequenceOperand('dx')],
  params: windowParams,
  cost: (p) => ({
    flops: p.batch * p.width * p.length * p.taps,
    bytes: 4 * p.batch * p.length * p.width * (1 + p.taps),
  }),
  tolerance: { relative: 1e-6, absolute: 1e-7, why: 'a float32 sum of up to 5 taps' },
  cases: windowCases,
});
