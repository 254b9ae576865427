// recurrence_grad: the weights are turned round first, so that neighbouring threads read neighbours; then a workgroup a row of the batch goes back
// through time.

import type { GpuKernel, GpuPass, WgslElement } from '../gpu-contract.ts';
import { lengthsRead } from '../gpu-positions.ts';
import { recurrentSteps } from '../gpu-recurrence.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';
import { keptRows, type RecurrenceParameters } from '../recurrence-shape.ts';

const longShort = `let i = was(position, 0u, u);
          let f = was(position, 1u, u);
          let g = was(position, 2u, u);
          let o = was(position, 3u, u);
          let c = tanh(was(position, 4u, u));
          let d = carried[place] + slope * o * (1f - c * c);
          put(position, 0u, u, d * g * i * (1f - i));
          put(position, 1u, u, d * select(0f, was(before, 4u, u), step > 0u) * f * (1f - f));
          put(position, 2u, u, d * i * (1f - g * g));
          put(position, 3u, u, slope * c * o * (1f - o));
          carried[place] = d * f;`;

const gated = `let r = was(position, 0u, u);
          let z = was(position, 1u, u);
          let n = was(position, 2u, u);
          let candidate = slope * (1f - z) * (1f - n * n);
          let reset = candidate * was(position, 3u, u) * r * (1f - r);
          let update = slope * (last - n) * z * (1f - z);
          put(position, 0u, u, reset);
          put(position, 1u, u, update);
          put(position, 2u, u, candidate);
          back(position, 0u, u, reset);
          back(position, 1u, u, update);
          back(position, 2u, u, candidate * r);
          carried[place] = slope * z;`;

export const gpu: GpuKernel = {
  temporaries: ({ units, gates }) => ({ turned: gates * units * units }),
  passes: (params, { limits, has }) => {
    const { units, gates } = params;
    const long = gates === 4;
    const width = gates * units;
    const view = scalarView(width * units, limits);
    const turning = `turned[i] = w[i % ${units}u * ${width}u + i / ${units}u];`;
    const back: Readonly<Record<string, WgslElement>> = long ? {} : { dh: 'f32' };
    const flowing = long ? 'dx' : 'dh';
    const declarations = `const GATES = ${gates}u;
const ROWS = ${keptRows(gates)}u;
fn was(position: u32, row: u32, u: u32) -> f32 { return kept[(position * ROWS + row) * UNITS + u]; }
fn put(position: u32, gate: u32, u: u32, value: f32) { dx[(position * GATES + gate) * UNITS + u] = value; }
${long ? '' : 'fn back(position: u32, gate: u32, u: u32, value: f32) { dh[(position * GATES + gate) * UNITS + u] = value; }'}`;
    const unit = `let last = select(0f, y[before * UNITS + u], step > 0u);
          previous[position * UNITS + u] = last;
          var slope = dy[position * UNITS + u]${long ? '' : ' + carried[place]'};
          if (step + 1u < tokens) {
            let after = position_of(own, step + 1u, tokens) * ${width}u;
            for (var j = 0u; j < ${width}u; j++) { slope += ${flowing}[after + j] * turned[j * UNITS + u]; }
          }
          ${long ? longShort : gated}`;
    const padding = `previous[position * UNITS + u] = 0f;
          for (var gate = 0u; gate < GATES; gate++) {
            put(position, gate, u, 0f);
            ${long ? '' : 'back(position, gate, u, 0f);'}
          }`;
    const steps = { unit, padding, back: true };
    const turn: GpuPass = {
      label: 'recurrence_grad weights',
      reads: { w: 'f32' },
      writes: { turned: 'f32' },
      code: elementwise(view, turning),
      workgroups: view.workgroups,
    };
    const through: GpuPass = {
      label: 'recurrence_grad',
      reads: { dy: 'f32', kept: 'f32', y: 'f32', turned: 'f32', ...lengthsRead(has) },
      writes: { dx: 'f32', previous: 'f32', ...back },
      ...recurrentSteps(params as RecurrenceParameters, steps, limits, has('lengths'), declarations),
    };
    return [turn, through];
  },
};
