// reduce: some lanes share an element of y; neighbouring threads take neighbouring columns where the last dimension is kept,
// neighbouring values where it is summed. The lanes' sums are added by a tree.

import { elementCount } from '../contract.ts';
import type { GpuKernel } from '../gpu-contract.ts';
import { columnLayout, rowLayout } from '../gpu-layout.ts';
import { offsetFunction } from '../gpu-sizes.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float, foldedGrid, groupIndex } from '../gpu-wgsl.ts';
import { maskedSizes, maskedStrides, type SizeName, sizesOf, wholeMask } from '../sizes.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const sizes = sizesOf(params as Readonly<Record<SizeName, number>>);
    const { kept, scale } = params;
    const summed = wholeMask & ~kept;
    const strides = maskedStrides(sizes, wholeMask);
    const [results, terms] = [kept, summed].map((mask) => elementCount(maskedSizes(sizes, mask)));
    const keepsRows = (kept & 32) !== 0 && sizes[5] > 1;
    const layout = keepsRows ? columnLayout(terms, results) : { ...rowLayout(terms), columns: 1 };
    const { threads, lanes } = layout;
    const perGroup = threads / lanes;
    const grid = foldedGrid(Math.ceil(results / perGroup), limits);
    // Columns: thread = lane · columns + column. Rows: thread = row · lanes + lane.
    const place = keepsRows
      ? `let own_number = thread % ${perGroup}u; let lane = thread / ${perGroup}u;`
      : `let own_number = thread / ${lanes}u; let lane = thread % ${lanes}u;`;
    const code = `${offsetFunction('result_start', maskedSizes(sizes, kept), strides)}
${offsetFunction('term_offset', maskedSizes(sizes, summed), strides)}
${laneReduce('lanes_sum', threads, lanes, keepsRows ? perGroup : 1, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  ${place}
  let result = ${groupIndex(grid)} * ${perGroup}u + own_number;
  let start = result_start(min(result, ${results - 1}u));
  var sum = 0f;
  for (var e = lane; e < ${terms}u; e += ${lanes}u) { sum += x[start + term_offset(e)]; }
  sum = lanes_sum(thread, sum);
  if (lane == 0u && result < ${results}u) { y[result] = ${float(scale)} * sum; }
}
`;
    return [{ label: 'reduce', reads: { x: 'f32' }, writes: { y: 'f32' }, code, workgroups: grid.workgroups }];
  },
};
