// A recurrent layer over all positions of sequences: LSTM (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000) or GRU (Cho et
// al. 2014, its reset behind the product, as PyTorch and cuDNN have it).

import { defineKernel } from '../contract.ts';
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
  name: 'recurrence',
  summary:
    'From h = c = 0 along the real positions, backwards if reverse = 1, x being their products with the weights of the input: ' +
    '4 gates: i, f, o = σ(x + h·w + bias), g = tanh(…), c = f·c + i·g, y = h = o·tanh c; ' +
    '3 gates: r, z = σ(…), n = tanh(x + r·(h·w + bias)), y = h = (1 − z)·n + z·h. Padding gives 0.',
  inputs: [gatesOperand('x'), recurrentWeight, { name: 'bias', shape: (p) => [p.gates * p.units] }, lengthsOperand],
  outputs: [unitsOperand('y'), keptOperand],
  params: recurrenceParams,
  problem: recurrenceProblem,
  cost: ({ batch, length, units, gates }) => ({
    flops: batch * length * units * gates * (2 * units + 8),
    bytes: 4 * (batch * length * units * (2 * gates + 2) + gates * units * (units + 1)),
  }),
  tolerance: {
    relative: 2e-5,
    absolute: 3e-6,
    why: 'float32 sums over up to 130 units, passed on over up to 13 steps',
  },
  cases: recurrenceCases,
});
