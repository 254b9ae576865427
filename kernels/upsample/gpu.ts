// upsample, one element of the result a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ planes, height, width, factor }, { limits }) => {
    const [tall, wide] = [height * factor, width * factor];
    const view = scalarView(planes * tall * wide, limits);
    const body = `let plane = i / ${tall * wide}u;
  let row = i / ${wide}u % ${tall}u / ${factor}u;
  let column = i % ${wide}u / ${factor}u;
  y[i] = x[(plane * ${height}u + row) * ${width}u + column];`;
    return [
      {
        label: 'upsample',
        reads: { x: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
