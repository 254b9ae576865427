// fill, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, elementwiseView, float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count, value }, { limits }) => {
    const view = elementwiseView(count, limits);
    return [
      {
        label: 'fill',
        reads: {},
        writes: { y: view.element },
        code: elementwise(view, `y[i] = V(${float(value)});`),
        workgroups: view.workgroups,
      },
    ];
  },
};
