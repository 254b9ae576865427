// layer_norm_grad: dx by rows in one pass, dgamma and dbeta by columns in another.

import type { GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { columnLayout, rowLayout } from '../gpu-layout.ts';
import { float, foldedGrid, groupIndex, laneReduce } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width }, { limits }) => [inputPass(rows, width, limits), parameterPass(rows, width, limits)],
};

function inputPass(rows: number, width: number, limits: GpuLimits): GpuPass {
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
  let average = mean[own];
  let scale = inverseDeviation[own];
  var sum = 0f;
  var sum_normalised = 0f;
  for (var j = lane; j < WIDTH; j += LANES) {
    let g = dy[at + j] * gamma[j];
    sum += g;
    sum_normalised += g * (x[at + j] - average) * scale;
  }
  let mean_g = row_sum(thread, sum) * ${float(1 / width)};
  let mean_normalised = row_sum(thread, sum_normalised) * ${float(1 / width)};
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) {
    let normalised = (x[at + j] - average) * scale;
    dx[at + j] = scale * (dy[at + j] * gamma[j] - mean_g - normalised * mean_normalised);
  }
}
`;
  return {
    label: 'layer_norm_grad dx',
    reads: { dy: 'f32', x: 'f32', gamma: 'f32', mean: 'f32', inverseDeviation: 'f32' },
    writes: { dx: 'f32' },
    code,
    workgroups: grid.workgroups,
  };
}

function parameterPass(rows: number, width: number, limits: GpuLimits): GpuPass {
  const { threads, columns, lanes } = columnLayout(rows, width);
  const grid = foldedGrid(Math.ceil(width / columns), limits);
  const code = `const WIDTH = ${width}u;
${laneReduce('column_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let column = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let lane = thread / ${columns}u;
  var sum = 0f;
  var sum_normalised = 0f;
  if (column < WIDTH) {
    for (var row = lane; row < ${rows}u; row += ${lanes}u) {
      let slope = dy[row * WIDTH + column];
      sum += slope;
      sum_normalised += slope * (x[row * WIDTH + column] - mean[row]) * inverseDeviation[row];
    }
  }
  sum = column_sum(thread, sum);
  sum_normalised = column_sum(thread, sum_normalised);
  if (lane == 0u && column < WIDTH) {
    dbeta[column] = sum;
    dgamma[column] = sum_normalised;
  }
}
`;
  return {
    label: 'layer_norm_grad dgamma',
    reads: { dy: 'f32', x: 'f32', mean: 'f32', inverseDeviation: 'f32' },
    writes: { dgamma: 'f32', dbeta: 'f32' },
    code,
    workgroups: grid.workgroups,
  };
}
