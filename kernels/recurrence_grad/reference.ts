// Oracle of recurrence_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { keptRows, positionOf } from '../recurrence-shape.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, units, gates, reverse } = params;
  const { dy, kept, y, w } = present(inputs);
  const { lengths } = inputs;
  const { dx, previous } = present(outputs);
  // What flows back through w: of an LSTM the same as to its input.
  const dh = outputs['dh'] ?? dx;
  for (const output of [dx, dh, previous]) output.fill(0);
  const rows = keptRows(gates);
  for (let row = 0; row < batch; row++) {
    const tokens = lengths ? lengths[row] : length;
    let carried = new Float64Array(units);
    let cell = new Float64Array(units);
    for (let step = tokens - 1; step >= 0; step--) {
      const at = (step: number): number => row * length + positionOf(step, tokens, reverse);
      const position = at(step);
      const next = new Float64Array(units);
      const nextCell = new Float64Array(units);
      for (let u = 0; u < units; u++) {
        const of = (gate: number, place = position): number => kept[(place * rows + gate) * units + u];
        const put = (target: Float64Array, gate: number, value: number): void => {
          target[(position * gates + gate) * units + u] = value;
        };
        const before = step > 0 ? y[at(step - 1) * units + u] : 0;
        previous[position * units + u] = before;
        const slope = dy[position * units + u] + carried[u];
        if (gates === 4) {
          const [i, f, g, o, c] = [of(0), of(1), of(2), of(3), Math.tanh(of(4))];
          const d = cell[u] + slope * o * (1 - c * c);
          put(dx, 0, d * g * i * (1 - i));
          put(dx, 1, d * (step > 0 ? of(4, at(step - 1)) : 0) * f * (1 - f));
          put(dx, 2, d * i * (1 - g * g));
          put(dx, 3, slope * c * o * (1 - o));
          nextCell[u] = d * f;
        } else {
          const [r, z, n, q] = [of(0), of(1), of(2), of(3)];
          const candidate = slope * (1 - z) * (1 - n * n);
          const [reset, update] = [candidate * q * r * (1 - r), slope * (before - n) * z * (1 - z)];
          for (const target of [dx, dh]) {
            put(target, 0, reset);
            put(target, 1, update);
            put(target, 2, target === dh ? candidate * r : candidate);
          }
          next[u] = slope * z;
        }
      }
      const flowing = dh.subarray(position * gates * units, (position + 1) * gates * units);
      for (let k = 0; k < units; k++) {
        flowing.forEach((value, j) => (next[k] += value * w[k * gates * units + j]));
      }
      [carried, cell] = [next, nextCell];
    }
  }
};
