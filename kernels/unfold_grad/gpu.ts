// unfold_grad: one value of a position a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { lengthsRead, tokensOfRow } from '../gpu-positions.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, width, taps, before, dilation }, { limits, has }) => {
    const view = scalarView(batch * length * width, limits);
    const body = `let column = i % ${width}u;
  let position = i / ${width}u % ${length}u;
  let row = i / ${length * width}u;
  var sum = 0f;
  if (position < tokens_of(row)) {
    for (var tap = 0u; tap < ${taps}u; tap++) {
      let start = i32(position) + ${before} - i32(tap * ${dilation}u);
      if (start < 0 || start >= ${length}) { continue; }
      sum += dy[((row * ${length}u + u32(start)) * ${taps}u + tap) * ${width}u + column];
    }
  }
  dx[i] = sum;`;
    return [
      {
        label: 'unfold_grad',
        reads: { dy: 'f32', ...lengthsRead(has) },
        writes: { dx: 'f32' },
        code: elementwise(view, body, tokensOfRow(length, has('lengths'))),
        workgroups: view.workgroups,
      },
    ];
  },
};
