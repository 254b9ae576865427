// embedding: one element a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { codeOfRow, elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const { batch, width } = params;
    const view = scalarView(batch * width, limits);
    return [
      {
        label: 'embedding',
        reads: { table: 'f32', codes: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, `y[i] = table[code_of(i / ${width}u) * ${width}u + i % ${width}u];`, codeOfRow(params)),
        workgroups: view.workgroups,
      },
    ];
  },
};
