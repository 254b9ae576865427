// sum_squares: a workgroup a chunk; its threads stride over the chunk and are added up.

import type { GpuKernel } from '../gpu-contract.ts';
import { sumArguments, workgroupSum } from '../gpu-sums.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

const threads = 256;

export const gpu: GpuKernel = {
  passes: ({ count, chunks }, context) => {
    const grid = foldedGrid(chunks, context.limits);
    const { parameters, pass } = sumArguments(context);
    // ⌊j·count/chunks⌋ without overflow: j·count is split into a whole and a fractional part of count/chunks.
    const code = `${workgroupSum(threads, context)}
fn chunk_start(j: u32) -> u32 {
  return j * ${Math.floor(count / chunks)}u + j * ${count % chunks}u / ${chunks}u;
}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32${parameters}) {
  let chunk = ${groupIndex(grid)};
  let end = chunk_start(chunk + 1u);
  var sum = 0f;
  for (var i = chunk_start(chunk) + thread; i < end; i += ${threads}u) { sum += x[i] * x[i]; }
  let total_sum = workgroup_sum(${pass}, sum);
  if (thread == 0u && chunk < ${chunks}u) { partials[chunk] = total_sum; }
}
`;
    return [
      {
        label: 'sum_squares',
        reads: { x: 'f32' },
        writes: { partials: 'f32' },
        usesSubgroups: context.subgroups,
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
