// gather_grad: a thread owns one element of dx and looks through the numbers, which pass through workgroup memory. No atomics:
// the slices are added in their order.

import type { GpuKernel } from '../gpu-contract.ts';
import { defaultThreads, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, size, inner, count }, { limits }) => {
    const elements = outer * size * inner;
    const grid = foldedGrid(Math.ceil(elements / defaultThreads), limits);
    const code = `const THREADS = ${defaultThreads}u;
const COUNT = ${count}u;
var<workgroup> numbers: array<u32, THREADS>;
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let element = ${groupIndex(grid)} * THREADS + thread;
  let own = element / ${inner}u % ${size}u;
  let start = element / ${size * inner}u * ${count * inner}u + element % ${inner}u;
  var sum = 0f;
  for (var first = 0u; first < COUNT; first += THREADS) {
    workgroupBarrier();
    if (first + thread < COUNT) { numbers[thread] = min(indices[first + thread], ${size - 1}u); }
    workgroupBarrier();
    let slices = min(THREADS, COUNT - first);
    for (var i = 0u; i < slices; i++) {
      if (numbers[i] == own && element < ${elements}u) { sum += dy[start + (first + i) * ${inner}u]; }
    }
  }
  if (element < ${elements}u) { dx[element] = sum; }
}
`;
    return [
      {
        label: 'gather_grad',
        reads: { dy: 'f32', indices: 'u32' },
        writes: { dx: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
