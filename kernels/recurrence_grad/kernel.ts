// Gradient of a recurrent layer through time.

import { defineKernel } from '../contract.ts';
import { normal } from '../samples.ts';
import {
  gatesOperand,
  keptOperand,
  recurrenceCases,
  recurrenceParams,
  recurrenceProblem,
  recurrentWeight,
  unitsOperand,
} from '../recurrence-shape.ts';
import { lengthsOperand } from '../token-codes.ts';

export const kernel = defineKernel({
  name: 'recurrence_grad',
  summary:
    'dx of the products with the input; dh of those with the layer’s own values, for 3 gates alone (for 4 they are the same); ' +
    'previous[t] = y of the step before, so that the gradient of w is previousᵀ·dh. Padding gives 0.',
  inputs: [
    unitsOperand('dy'),
    {
      ...keptOperand,
      // Gates lie between 0 and 1, or −1 and 1.
      sample: (_, random) => Math.tanh(normal(random)) / 2,
    },
    unitsOperand('y'),
    recurrentWeight,
    lengthsOperand,
  ],
  outputs: [gatesOperand('dx'), { ...gatesOperand('dh'), optional: true }, unitsOperand('previous')],
  params: recurrenceParams,
  problem: recurrenceProblem,
  cost: ({ batch, length, units, gates }) => ({
    flops: batch * length * units * gates * (2 * units + 8),
    bytes: 4 * (batch * length * units * (2 * gates + 4) + gates * units * units),
  }),
  tolerance: {
    relative: 2e-5,
    absolute: 3e-6,
    why: 'float32 sums over up to 520 gates, passed on over up to 13 steps',
  },
  cases: recurrenceCases.map((one) =>
    one.params.gates === 4 ? { ...one, absent: [...(one.absent ?? []), 'dh'] } : one,
  ),
});
