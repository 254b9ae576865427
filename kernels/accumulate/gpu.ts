// accumulate, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count }, { limits }) => {
    const view = elementwiseView(count, limits);
    // The old sum may be anything, also no number.
    const body = `let keep = shares[2u * step];
  let part = shares[2u * step + 1u] * x[i];
  if (keep == 0f) { sum[i] = part; } else { sum[i] = keep * sum[i] + part; }`;
    return [
      {
        label: 'accumulate',
        reads: { x: view.element, shares: 'f32' },
        writes: { sum: view.element },
        usesStep: true,
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
