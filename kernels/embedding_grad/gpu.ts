// embedding_grad: a thread owns one element of the table's gradient and looks through the codes of the batch, which pass
// through workgroup memory. No atomics: the rows are added in their order.

import type { GpuKernel } from '../gpu-contract.ts';
import { codeOfRow, defaultThreads, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const { batch, vocabulary, width } = params;
    const count = vocabulary * width;
    const grid = foldedGrid(Math.ceil(count / defaultThreads), limits);
    const code = `const THREADS = ${defaultThreads}u;
const BATCH = ${batch}u;
var<workgroup> row_codes: array<u32, THREADS>;
${codeOfRow(params)}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let i = ${groupIndex(grid)} * THREADS + thread;
  let own = i / ${width}u;
  let column = i % ${width}u;
  var sum = 0f;
  for (var first = 0u; first < BATCH; first += THREADS) {
    workgroupBarrier();
    if (first + thread < BATCH) { row_codes[thread] = code_of(first + thread); }
    workgroupBarrier();
    let rows = min(THREADS, BATCH - first);
    for (var r = 0u; r < rows; r++) {
      if (row_codes[r] == own) { sum += dy[(first + r) * ${width}u + column]; }
    }
  }
  if (i < ${count}u) { dtable[i] = sum; }
}
`;
    return [
      {
        label: 'embedding_grad',
        reads: { dy: 'f32', codes: 'f32' },
        writes: { dtable: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
