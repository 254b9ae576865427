// token_embedding: one element a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView, tokenOfPosition } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const { batch, length, width } = params;
    const view = scalarView(batch * length * width, limits);
    const body = `let token = token_of(i / ${width}u);
  y[i] = select(0f, table[max(token, 1u) * ${width}u - ${width}u + i % ${width}u], token > 0u);`;
    return [
      {
        label: 'token_embedding',
        reads: { table: 'f32', codes: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body, tokenOfPosition(params)),
        workgroups: view.workgroups,
      },
    ];
  },
};
