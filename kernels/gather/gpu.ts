// gather, one element a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, size, inner, count }, { limits }) => {
    const view = scalarView(outer * count * inner, limits);
    const body = `let slice = i / ${inner}u;
  let index = min(indices[slice % ${count}u], ${size - 1}u);
  y[i] = x[(slice / ${count}u * ${size}u + index) * ${inner}u + i % ${inner}u];`;
    return [
      {
        label: 'gather',
        reads: { x: 'f32', indices: 'u32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
