// recurrence: a workgroup a row of the batch.

import type { GpuKernel } from '../gpu-contract.ts';
import { lengthsRead } from '../gpu-positions.ts';
import { recurrentSteps } from '../gpu-recurrence.ts';
import { keptRows, type RecurrenceParameters } from '../recurrence-shape.ts';

const longShort = `let i = sigmoid(given(position, 0u, u) + sums[0]);
          let f = sigmoid(given(position, 1u, u) + sums[1]);
          let g = tanh(given(position, 2u, u) + sums[2]);
          let o = sigmoid(given(position, 3u, u) + sums[3]);
          carried[place] = f * carried[place] + i * g;
          let h = o * tanh(carried[place]);
          keep(position, 0u, u, i);
          keep(position, 1u, u, f);
          keep(position, 2u, u, g);
          keep(position, 3u, u, o);
          keep(position, 4u, u, carried[place]);`;

const gated = `let r = sigmoid(given(position, 0u, u) + sums[0]);
          let z = sigmoid(given(position, 1u, u) + sums[1]);
          let n = tanh(given(position, 2u, u) + r * sums[2]);
          let h = n + z * (carried[place] - n);
          carried[place] = h;
          keep(position, 0u, u, r);
          keep(position, 1u, u, z);
          keep(position, 2u, u, n);
          keep(position, 3u, u, sums[2]);`;

export const gpu: GpuKernel = {
  passes: (params, { limits, has }) => {
    const { gates } = params;
    const rows = keptRows(gates);
    const declarations = `const GATES = ${gates}u;
const ROWS = ${rows}u;
fn given(position: u32, gate: u32, u: u32) -> f32 { return x[(position * GATES + gate) * UNITS + u]; }
fn keep(position: u32, row: u32, u: u32, value: f32) { kept[(position * ROWS + row) * UNITS + u] = value; }`;
    const unit = `var sums: array<f32, GATES>;
          for (var gate = 0u; gate < GATES; gate++) { sums[gate] = bias[gate * UNITS + u]; }
          if (step > 0u) {
            for (var k = 0u; k < UNITS; k++) {
              let h = y[before * UNITS + k];
              for (var gate = 0u; gate < GATES; gate++) { sums[gate] += h * w[(k * GATES + gate) * UNITS + u]; }
            }
          }
          ${gates === 4 ? longShort : gated}
          y[position * UNITS + u] = h;`;
    const padding = `y[position * UNITS + u] = 0f;
          for (var row = 0u; row < ROWS; row++) { keep(position, row, u, 0f); }`;
    const steps = { unit, padding, back: false };
    return [
      {
        label: 'recurrence',
        reads: { x: 'f32', w: 'f32', bias: 'f32', ...lengthsRead(has) },
        writes: { y: 'f32', kept: 'f32' },
        ...recurrentSteps(params as RecurrenceParameters, steps, limits, has('lengths'), declarations),
      },
    ];
  },
};
