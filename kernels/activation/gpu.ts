// activation, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { activateFunction } from '../gpu-activations.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count, activation, slope }, { limits }) => {
    const view = elementwiseView(count, limits);
    return [
      {
        label: 'activation',
        reads: { x: view.element },
        writes: { y: view.element },
        code: elementwise(view, 'y[i] = activate(x[i]);', activateFunction(activation, slope)),
        workgroups: view.workgroups,
      },
    ];
  },
};
