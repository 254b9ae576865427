// pool_positions_grad: one value of a position a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { lengthsRead, pooledRange, tokensOfRow } from '../gpu-positions.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, width, pool }, { limits, has }) => {
    const view = scalarView(batch * length * width, limits);
    const { first, end } = pooledRange(pool);
    const body = `let row = i / ${length * width}u;
  let t = i / ${width}u % ${length}u;
  let tokens = tokens_of(row);
  let share = dy[row * ${width}u + i % ${width}u] / f32(${end} - (${first}));
  dx[i] = select(0f, share, t >= ${first} && t < ${end});`;
    return [
      {
        label: 'pool_positions_grad',
        reads: { dy: 'f32', ...lengthsRead(has) },
        writes: { dx: 'f32' },
        code: elementwise(view, body, tokensOfRow(length, has('lengths'))),
        workgroups: view.workgroups,
      },
    ];
  },
};
