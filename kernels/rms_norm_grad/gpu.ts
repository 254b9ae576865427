// rms_norm_grad: dx by rows in one pass, dgamma by columns in another.

import type { GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { columnLayout } from '../gpu-layout.ts';
import { rowCode } from '../gpu-normalise.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width }, { limits }) => [inputPass(rows, width, limits), parameterPass(rows, width, limits)],
};

function inputPass(rows: number, width: number, limits: GpuLimits): GpuPass {
  const body = `let scale = inverse[own];
  var product = 0f;
  for (var j = lane; j < WIDTH; j += LANES) { product += dy[at + j] * gamma[j] * x[at + j] * scale; }
  let average = row_sum(thread, product) * ${float(1 / width)};
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) {
    dx[at + j] = scale * (dy[at + j] * gamma[j] - x[at + j] * scale * average);
  }`;
  return {
    label: 'rms_norm_grad dx',
    reads: { dy: 'f32', x: 'f32', gamma: 'f32', inverse: 'f32' },
    writes: { dx: 'f32' },
    ...rowCode({ rows, width }, body, limits),
  };
}

function parameterPass(rows: number, width: number, limits: GpuLimits): GpuPass {
  const { threads, columns, lanes } = columnLayout(rows, width);
  const grid = foldedGrid(Math.ceil(width / columns), limits);
  const code = `${laneReduce('column_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let column = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let lane = thread / ${columns}u;
  var sum = 0f;
  if (column < ${width}u) {
    for (var row = lane; row < ${rows}u; row += ${lanes}u) {
      let i = row * ${width}u + column;
      sum += dy[i] * x[i] * inverse[row];
    }
  }
  sum = column_sum(thread, sum);
  if (lane == 0u && column < ${width}u) { dgamma[column] = sum; }
}
`;
  return {
    label: 'rms_norm_grad dgamma',
    reads: { dy: 'f32', x: 'f32', inverse: 'f32' },
    writes: { dgamma: 'f32' },
    code,
    workgroups: grid.workgroups,
  };
}
