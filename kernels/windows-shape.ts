// What the windows of one-dimensional convolutions and their gradients share. B rows, L positions, D values, K taps; window t begins at position
// t − before, its taps lie `dilation` apart.

import type { Operand } from './contract.ts';

export const windowParams = {
  batch: 'i32',
  length: 'i32',
  width: 'i32',
  taps: 'i32',
  before: 'i32',
  dilation: 'i32',
} as const;
export type WindowParameter = keyof typeof windowParams;

export const sequenceOperand = (name: string): Operand<WindowParameter> => ({
  name,
  shape: (p) => [p.batch, p.length, p.width],
});

export const windowsOperand = (name: string): Operand<WindowParameter> => ({
  name,
  shape: (p) => [p.batch, p.length, p.taps * p.width],
});

const shapes = [
  { batch: 1, length: 1, width: 1, taps: 1, before: 0, dilation: 1 },
  { batch: 3, length: 13, width: 7, taps: 3, before: 1, dilation: 1 },
  { batch: 5, length: 16, width: 8, taps: 5, before: 8, dilation: 2 },
  { batch: 2, length: 17, width: 33, taps: 4, before: 1, dilation: 1 },
  { batch: 4, length: 7, width: 70, taps: 2, before: 0, dilation: 3 },
];

/** Each with lengths and without. */
export const windowCases = shapes.flatMap((params) => [{ params }, { params, absent: ['lengths'] }]);
