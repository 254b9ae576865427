// activation_grad, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { derivativeFunction } from '../gpu-activations.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count, activation, slope, fromOutput }, { limits }) => {
    const view = elementwiseView(count, limits);
    const functions = derivativeFunction(activation, slope, fromOutput !== 0);
    return [
      {
        label: 'activation_grad',
        reads: { dy: view.element, saved: view.element },
        writes: { dx: view.element },
        code: elementwise(view, 'dx[i] = dy[i] * derivative(saved[i]);', functions),
        workgroups: view.workgroups,
      },
    ];
  },
};
