// layer_norm: some lanes a row, several rows a workgroup. Mean first, then the squares of the differences: two passes over a
// row that stays in the cache, because one pass with E[x²] − E[x]² loses digits.

import type { GpuKernel } from '../gpu-contract.ts';
import { rowLayout } from '../gpu-layout.ts';
import { float, foldedGrid, groupIndex, laneReduce } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width, epsilon }, { limits }) => {
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
  // Rows past the last read it again, so that all threads reach the sums; they write nothing.
  let at = min(row, ROWS - 1u) * WIDTH;
  var sum = 0f;
  for (var j = lane; j < WIDTH; j += LANES) { sum += x[at + j]; }
  let average = row_sum(thread, sum) * ${float(1 / width)};
  var squares = 0f;
  for (var j = lane; j < WIDTH; j += LANES) {
    let difference = x[at + j] - average;
    squares += difference * difference;
  }
  let scale = 1f / sqrt(row_sum(thread, squares) * ${float(1 / width)} + ${float(epsilon)});
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) { y[at + j] = (x[at + j] - average) * scale * gamma[j] + beta[j]; }
  if (lane == 0u) {
    mean[row] = average;
    inverseDeviation[row] = scale;
  }
}
`;
    return [
      {
        label: 'layer_norm',
        reads: { x: 'f32', gamma: 'f32', beta: 'f32' },
        writes: { y: 'f32', mean: 'f32', inverseDeviation: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
