// layer_norm_grad: dx by rows in one pass, dgamma and dbeta by columns in another.

import type { GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { columnLayout } from '../gpu-layout.ts';
import { normaliseGradientPass } from '../gpu-normalise.ts';
import { laneReduce } from '../gpu-sums.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width }, { limits }) => [
    normaliseGradientPass({ label: 'layer_norm_grad', rows, width, channel: 'j' }, limits),
    parameterPass(rows, width, limits),
  ],
};

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
