// What recurrent layers and their gradients share. B rows, L positions, U units, G gates: 4 of an LSTM (input, forget, candidate, output),
// 3 of a GRU (reset, update, candidate), in PyTorch's order.

import type { Operand } from './contract.ts';

export const recurrenceParams = { batch: 'i32', length: 'i32', units: 'i32', gates: 'i32', reverse: 'i32' } as const;
export type RecurrenceParameter = keyof typeof recurrenceParams;
export type RecurrenceParameters = Readonly<Record<RecurrenceParameter, number>>;

/** Gates of each cell. */
export const cellGates = { lstm: 4, gru: 3 } as const;
export type Cell = keyof typeof cellGates;

/** Units at most: the scratch memory of a thread has rows of them. */
export const mostUnits = 4096;

/** Rows of units kept for the gradient: i, f, g, o and the cell's state c of an LSTM; r, z, n and Wₙh + bₙ of a GRU. */
export const keptRows = (gates: number): number => (gates === 4 ? 5 : 4);

export function recurrenceProblem({ units, gates }: RecurrenceParameters): string | null {
  if (gates !== 3 && gates !== 4) return `a recurrent cell of ${gates} gates; there are those of 3 and of 4`;
  return units > mostUnits ? `${units} recurrent units; ${mostUnits} at most` : null;
}

export const gatesOperand = (name: string): Operand<RecurrenceParameter> => ({
  name,
  shape: (p) => [p.batch, p.length, p.gates * p.units],
});

export const unitsOperand = (name: string): Operand<RecurrenceParameter> => ({
  name,
  shape: (p) => [p.batch, p.length, p.units],
});

export const keptOperand: Operand<RecurrenceParameter> = {
  name: 'kept',
  shape: (p) => [p.batch, p.length, keptRows(p.gates) * p.units],
};

export const recurrentWeight: Operand<RecurrenceParameter> = {
  name: 'w',
  shape: (p) => [p.units, p.gates * p.units],
  sample: (p, random) => (2 * random() - 1) / Math.sqrt(p.units),
};

/** The position of a row's step, and of the one before it in time. */
export const positionOf = (step: number, tokens: number, reverse: number): number =>
  reverse ? tokens - 1 - step : step;

const shapes = [
  { batch: 1, length: 1, units: 1 },
  { batch: 6, length: 9, units: 8 },
  { batch: 3, length: 13, units: 7 },
  { batch: 9, length: 5, units: 33 },
  { batch: 2, length: 3, units: 130 },
];

/** Each for both cells, in both directions, with lengths and without. */
export const recurrenceCases = shapes.flatMap((shape) =>
  [4, 3].flatMap((gates) =>
    [0, 1].flatMap((reverse) => {
      const params = { ...shape, gates, reverse };
      return [{ params }, { params, absent: ['lengths'] }];
    }),
  ),
);
