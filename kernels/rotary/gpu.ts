// rotary: one value a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, width, heads, size, inverse }, { limits }) => {
    const view = scalarView(batch * length * width, limits);
    const half = size / 2;
    const body = `let column = i % ${width}u;
  if (column >= ${heads * size}u) { y[i] = x[i]; return; }
  let d = column % ${size}u;
  let row = i / ${width}u % ${length}u * ${size}u;
  let cosine = table[row + d % ${half}u];
  let sine = ${inverse ? '-' : ''}table[row + ${half}u + d % ${half}u];
  if (d < ${half}u) { y[i] = x[i] * cosine - x[i + ${half}u] * sine; }
  else { y[i] = x[i] * cosine + x[i - ${half}u] * sine; }`;
    return [
      {
        label: 'rotary',
        reads: { x: 'f32', table: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
