// store_rows, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count }, { limits }) => {
    const view = elementwiseView(count, limits);
    return [
      {
        label: 'store_rows',
        reads: { x: view.element },
        writes: { y: view.element },
        usesStep: true,
        code: elementwise(view, 'y[step * LENGTH + i] = x[i];'),
        workgroups: view.workgroups,
      },
    ];
  },
};
