// softmax_grad: some lanes share a row.

import type { GpuKernel } from '../gpu-contract.ts';
import { rowLayout } from '../gpu-layout.ts';
import { laneReduce } from '../gpu-sums.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width }, { limits }) => {
    const { threads, lanes, rowsPerGroup } = rowLayout(width);
    const grid = foldedGrid(Math.ceil(rows / rowsPerGroup), limits);
    const each = (body: string): string => `for (var j = lane; j < ${width}u; j += ${lanes}u) { ${body} }`;
    const code = `${laneReduce('row_sum', threads, lanes, 1, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = ${groupIndex(grid)} * ${rowsPerGroup}u + thread / ${lanes}u;
  let lane = thread % ${lanes}u;
  let at = min(row, ${rows - 1}u) * ${width}u;
  var sum = 0f;
  ${each('sum += dy[at + j] * y[at + j];')}
  sum = row_sum(thread, sum);
  if (row >= ${rows}u) { return; }
  ${each('dx[at + j] = y[at + j] * (dy[at + j] - sum);')}
}
`;
    return [
      {
        label: 'softmax_grad',
        reads: { dy: 'f32', y: 'f32' },
        writes: { dx: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
