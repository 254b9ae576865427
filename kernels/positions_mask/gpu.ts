// positions_mask: one position a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, inside, outside }, { limits }) => {
    const view = scalarView(batch * length, limits);
    const body = `let tokens = u32(lengths[i / ${length}u]);
  y[i] = select(${float(outside)}, ${float(inside)}, i % ${length}u < tokens);`;
    return [
      {
        label: 'positions_mask',
        reads: { lengths: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
