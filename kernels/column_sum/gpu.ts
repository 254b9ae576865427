// column_sum: a workgroup takes some neighbouring columns, its lanes share the rows and are added up by a tree.

import type { GpuKernel } from '../gpu-contract.ts';
import { columnLayout } from '../gpu-layout.ts';
import { laneReduce } from '../gpu-sums.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width }, { limits }) => {
    const { threads, columns, lanes } = columnLayout(rows, width);
    const grid = foldedGrid(Math.ceil(width / columns), limits);
    const code = `${laneReduce('column_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let column = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let lane = thread / ${columns}u;
  var sum = 0f;
  if (column < ${width}u) {
    for (var row = lane; row < ${rows}u; row += ${lanes}u) { sum += x[row * ${width}u + column]; }
  }
  sum = column_sum(thread, sum);
  if (lane == 0u && column < ${width}u) { y[column] = sum; }
}
`;
    return [{ label: 'column_sum', reads: { x: 'f32' }, writes: { y: 'f32' }, code, workgroups: grid.workgroups }];
  },
};
