// add, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count }, { limits }) => {
    const view = elementwiseView(count, limits);
    return [
      {
        label: 'add',
        reads: { a: view.element, b: view.element },
        writes: { c: view.element },
        code: elementwise(view, 'c[i] = a[i] + b[i];'),
        workgroups: view.workgroups,
      },
    ];
  },
};
