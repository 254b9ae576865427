// copy_columns, one element a thread; neighbouring threads take neighbouring columns.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, columns, sourceWidth, sourceOffset, targetWidth, targetOffset }, { limits }) => {
    const view = scalarView(rows * columns, limits);
    const body = `let row = i / ${columns}u;
  let column = i % ${columns}u;
  y[row * ${targetWidth}u + ${targetOffset}u + column] = x[row * ${sourceWidth}u + ${sourceOffset}u + column];`;
    return [
      {
        label: 'copy_columns',
        reads: { x: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
