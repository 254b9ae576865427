// WGSL for recurrent layers: a workgroup a row of the batch goes through time, its threads share the units. What one step writes
// the next one reads, behind a barrier.

import type { GpuLimits } from './gpu-contract.ts';
import { tokensOfRow } from './gpu-positions.ts';
import { foldedGrid, groupIndex, powerOfTwo } from './gpu-wgsl.ts';
import type { RecurrenceParameters } from './recurrence-shape.ts';

const mostThreads = 256;

export interface RecurrentCode {
  /** What a unit does at a step: sees `u`, `place` (its number among those of the thread), `step`, `position` and `before` (of the step before). */
  readonly unit: string;
  /** What a padded `position` is filled with, unit by unit. */
  readonly padding: string;
  /** From the last step to the first. */
  readonly back: boolean;
}

/** Entry point and workgroups; `declarations` stands in front. */
export function recurrentSteps(
  params: RecurrenceParameters,
  { unit, padding, back }: RecurrentCode,
  limits: GpuLimits,
  lengths: boolean,
  declarations = '',
) {
  const { batch, length, units, reverse } = params;
  const threads = Math.min(mostThreads, powerOfTwo(units));
  const grid = foldedGrid(batch, limits);
  const places = Math.ceil(units / threads);
  const code = `const UNITS = ${units}u;
const PLACES = ${places}u;
${tokensOfRow(length, lengths)}
fn sigmoid(x: f32) -> f32 { return 1f / (1f + exp(-x)); }
fn position_of(row: u32, step: u32, tokens: u32) -> u32 {
  return row * ${length}u + ${reverse ? 'tokens - 1u - step' : 'step'};
}
${declarations}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = ${groupIndex(grid)};
  let exists = row < ${batch}u;
  let own = min(row, ${batch - 1}u);
  let tokens = tokens_of(own);
  var carried: array<f32, PLACES>;
  for (var s = 0u; s < ${length}u; s++) {
    let step = ${back ? `${length - 1}u - s` : 's'};
    if (exists) {
      for (var place = 0u; place < PLACES; place++) {
        let u = place * ${threads}u + thread;
        if (u >= UNITS) { break; }
        if (step < tokens) {
          let position = position_of(own, step, tokens);
          let before = position_of(own, max(step, 1u) - 1u, tokens);
          ${unit}
        } else {
          let position = own * ${length}u + step;
          ${padding}
        }
      }
    }
    storageBarrier();
  }
}
`;
  return { code, workgroups: grid.workgroups };
}
