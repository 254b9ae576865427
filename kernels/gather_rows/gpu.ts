// gather_rows: one element a thread, the features of all rows first, then their targets, in one dispatch.

import type { GpuKernel, WgslElement } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ width, targets, batch }, { limits, has }) => {
    const both = has('y') && has('batchY') && targets > 0;
    const view = scalarView(batch * (width + (both ? targets : 0)), limits);
    const rowOf = (position: string, length: number): string =>
      `indices[step * ${batch}u + ${position} / ${length}u] * ${length}u + ${position} % ${length}u`;
    const features = `batchX[i] = x[${rowOf('i', width)}];`;
    const body = both
      ? `if (i < ${batch * width}u) {
    ${features}
  } else {
    let j = i - ${batch * width}u;
    batchY[j] = y[${rowOf('j', targets)}];
  }`
      : features;
    const y: Record<string, WgslElement> = both ? { y: 'f32' } : {};
    const batchY: Record<string, WgslElement> = both ? { batchY: 'f32' } : {};
    return [
      {
        label: 'gather_rows',
        reads: { x: 'f32', ...y, indices: 'u32' },
        writes: { batchX: 'f32', ...batchY },
        usesStep: true,
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
