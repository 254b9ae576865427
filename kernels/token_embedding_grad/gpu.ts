// token_embedding_grad: the table is cleared; then a workgroup a position, of which the first with its token adds up all that have
// it, in their order. Work goes by the square of the positions, not by the vocabulary. No atomics.

import type { GpuKernel, GpuPass } from '../gpu-contract.ts';
import { elementwise, elementwiseView, foldedGrid, groupIndex, tokenOfPosition } from '../gpu-wgsl.ts';

/** Threads of a workgroup: they share the values of a row, and the search for an earlier position. */
const threads = 64;

export const gpu: GpuKernel = {
  passes: (params, { limits }): readonly GpuPass[] => {
    const { batch, length, vocabulary, width } = params;
    const clear = elementwiseView(vocabulary * width, limits);
    const grid = foldedGrid(batch * length, limits);
    const code = `const POSITIONS = ${batch * length}u;
const WIDTH = ${width}u;
const THREADS = ${threads}u;
var<workgroup> tokens: array<u32, THREADS>;
${tokenOfPosition(params)}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let position = ${groupIndex(grid)};
  let own = token_of(min(position, POSITIONS - 1u));
  var first = own > 0u && position < POSITIONS;
  for (var start = 0u; start < POSITIONS; start += THREADS) {
    tokens[thread] = token_of(min(start + thread, POSITIONS - 1u));
    workgroupBarrier();
    let count = min(THREADS, POSITIONS - start);
    for (var i = 0u; i < count; i++) {
      if (tokens[i] == own && start + i < position) { first = false; }
    }
    workgroupBarrier();
  }
  if (!first) { return; }
  for (var column = thread; column < WIDTH; column += THREADS) {
    var sum = 0f;
    for (var i = position; i < POSITIONS; i++) {
      if (token_of(i) == own) { sum += dy[i * WIDTH + column]; }
    }
    dtable[(own - 1u) * WIDTH + column] = sum;
  }
}
`;
    return [
      {
        label: 'token_embedding_grad: clear',
        reads: {},
        writes: { dtable: clear.element },
        code: elementwise(clear, 'dtable[i] = V();'),
        workgroups: clear.workgroups,
      },
      {
        label: 'token_embedding_grad',
        reads: { dy: 'f32', codes: 'f32' },
        writes: { dtable: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
