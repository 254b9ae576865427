// unfold: one value of a window a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { lengthsRead, tokensOfRow } from '../gpu-positions.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, width, taps, before, dilation }, { limits, has }) => {
    const view = scalarView(batch * length * taps * width, limits);
    const body = `let column = i % ${width}u;
  let tap = i / ${width}u % ${taps}u;
  let window = i / ${width * taps}u;
  let row = window / ${length}u;
  let position = i32(window % ${length}u + tap * ${dilation}u) - ${before};
  if (position < 0 || position >= i32(tokens_of(row))) { y[i] = 0f; return; }
  y[i] = x[(row * ${length}u + u32(position)) * ${width}u + column];`;
    return [
      {
        label: 'unfold',
        reads: { x: 'f32', ...lengthsRead(has) },
        writes: { y: 'f32' },
        code: elementwise(view, body, tokensOfRow(length, has('lengths'))),
        workgroups: view.workgroups,
      },
    ];
  },
};
