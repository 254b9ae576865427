// The frames of layer and group norm: rows of `width` neighbouring values are standardised, some lanes a row, several rows a
// workgroup. Mean first, then the squares of the differences: two passes over a row that stays in the cache, because one pass
// with E[x²] − E[x]² loses digits.

import type { GpuLimits, GpuPass } from './gpu-contract.ts';
import { rowLayout } from './gpu-layout.ts';
import { laneReduce } from './gpu-sums.ts';
import { float, foldedGrid, groupIndex } from './gpu-wgsl.ts';

export interface NormalisedRows {
  readonly label: string;
  readonly rows: number;
  readonly width: number;
  /** WGSL: index into gamma and beta of value `j` of `row`. */
  readonly channel: string;
}

/** y, mean and inverseDeviation from x, gamma and beta. */
export function normalisePass(shape: NormalisedRows, epsilon: number, limits: GpuLimits): GpuPass {
  const { label, channel } = shape;
  const share = float(1 / shape.width);
  const body = `var sum = 0f;
  for (var j = lane; j < WIDTH; j += LANES) { sum += x[at + j]; }
  let average = row_sum(thread, sum) * ${share};
  var squares = 0f;
  for (var j = lane; j < WIDTH; j += LANES) {
    let difference = x[at + j] - average;
    squares += difference * difference;
  }
  let scale = 1f / sqrt(row_sum(thread, squares) * ${share} + ${float(epsilon)});
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) {
    let channel = ${channel};
    y[at + j] = (x[at + j] - average) * scale * gamma[channel] + beta[channel];
  }
  if (lane == 0u) {
    mean[row] = average;
    inverseDeviation[row] = scale;
  }`;
  return {
    label,
    reads: { x: 'f32', gamma: 'f32', beta: 'f32' },
    writes: { y: 'f32', mean: 'f32', inverseDeviation: 'f32' },
    ...rowCode(shape, body, limits),
  };
}

/** dx from dy, x, gamma, mean and inverseDeviation: with g = dy·gamma, scale·(g − avg(g) − x̂·avg(g·x̂)). */
export function normaliseGradientPass(shape: NormalisedRows, limits: GpuLimits): GpuPass {
  const { label, channel } = shape;
  const share = float(1 / shape.width);
  const body = `let average = mean[own];
  let scale = inverseDeviation[own];
  var sum = 0f;
  var sum_normalised = 0f;
  for (var j = lane; j < WIDTH; j += LANES) {
    let g = dy[at + j] * gamma[${channel}];
    sum += g;
    sum_normalised += g * (x[at + j] - average) * scale;
  }
  let mean_g = row_sum(thread, sum) * ${share};
  let mean_normalised = row_sum(thread, sum_normalised) * ${share};
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) {
    let normalised = (x[at + j] - average) * scale;
    dx[at + j] = scale * (dy[at + j] * gamma[${channel}] - mean_g - normalised * mean_normalised);
  }`;
  return {
    label: `${label} dx`,
    reads: { dy: 'f32', x: 'f32', gamma: 'f32', mean: 'f32', inverseDeviation: 'f32' },
    writes: { dx: 'f32' },
    ...rowCode(shape, body, limits),
  };
}

/**
 * `body` runs for every `row` and `lane`; `at` is the row's first value. Rows past the last read it (`own`) again, so that all
 * threads reach the sums; they write nothing.
 */
export function rowCode(
  { rows, width }: Pick<NormalisedRows, 'rows' | 'width'>,
  body: string,
  limits: GpuLimits,
): Pick<GpuPass, 'code' | 'workgroups'> {
  const { threads, lanes, rowsPerGroup } = rowLayout(width);
  const grid = foldedGrid(Math.ceil(rows / rowsPerGroup), limits);
  const code = `const ROWS = ${rows}u;
const WIDTH = ${width}u;
const LANES = ${lanes}u;
${laneReduce('row_sum', threads, lanes, 1, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = ${groupIndex(grid)} * ${rowsPerGroup}u + thread / LANES;
  let lane = thread % LANES;
  let own = min(row, ROWS - 1u);
  let at = own * WIDTH;
  ${body}
}
`;
  return { code, workgroups: grid.workgroups };
}
