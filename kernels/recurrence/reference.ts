// Oracle of recurrence.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { keptRows, positionOf } from '../recurrence-shape.ts';
import type { kernel } from './kernel.ts';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, units, gates, reverse } = params;
  const { x, w, bias } = present(inputs);
  const { lengths } = inputs;
  const { y, kept } = present(outputs);
  y.fill(0);
  kept.fill(0);
  const rows = keptRows(gates);
  for (let row = 0; row < batch; row++) {
    const tokens = lengths ? lengths[row] : length;
    let h = new Float64Array(units);
    let c = new Float64Array(units);
    for (let step = 0; step < tokens; step++) {
      const position = row * length + positionOf(step, tokens, reverse);
      const [nextH, nextC] = [new Float64Array(units), new Float64Array(units)];
      for (let u = 0; u < units; u++) {
        const given = (gate: number): number => x[(position * gates + gate) * units + u];
        const recurrent = (gate: number): number =>
          h.reduce((sum, value, k) => sum + value * w[(k * gates + gate) * units + u], bias[gate * units + u]);
        const keep = (row: number, value: number): number => (kept[(position * rows + row) * units + u] = value);
        const gate = (number: number): number => keep(number, sigmoid(given(number) + recurrent(number)));
        if (gates === 4) {
          const [i, f, g, o] = [gate(0), gate(1), keep(2, Math.tanh(given(2) + recurrent(2))), gate(3)];
          nextC[u] = keep(4, f * c[u] + i * g);
          nextH[u] = o * Math.tanh(nextC[u]);
        } else {
          const [r, z, q] = [gate(0), gate(1), keep(3, recurrent(2))];
          const n = keep(2, Math.tanh(given(2) + r * q));
          nextH[u] = n + z * (h[u] - n);
        }
        y[position * units + u] = nextH[u];
      }
      [h, c] = [nextH, nextC];
    }
  }
};
