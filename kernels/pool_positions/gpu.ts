// pool_positions: one value of a row a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { lengthsRead, pooledRange, tokensOfRow } from '../gpu-positions.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, width, pool }, { limits, has }) => {
    const view = scalarView(batch * width, limits);
    const { first, end } = pooledRange(pool);
    const body = `let row = i / ${width}u;
  let tokens = tokens_of(row);
  var sum = 0f;
  for (var t = ${first}; t < ${end}; t++) { sum += x[(row * ${length}u + t) * ${width}u + i % ${width}u]; }
  y[i] = sum / f32(${end} - (${first}));`;
    return [
      {
        label: 'pool_positions',
        reads: { x: 'f32', ...lengthsRead(has) },
        writes: { y: 'f32' },
        code: elementwise(view, body, tokensOfRow(length, has('lengths'))),
        workgroups: view.workgroups,
      },
    ];
  },
};
