// rms_norm: some lanes a row, as layer norm.

import type { GpuKernel } from '../gpu-contract.ts';
import { rowCode } from '../gpu-normalise.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width, epsilon }, { limits }) => {
    const body = `var squares = 0f;
  for (var j = lane; j < WIDTH; j += LANES) { squares += x[at + j] * x[at + j]; }
  let scale = 1f / sqrt(row_sum(thread, squares) * ${float(1 / width)} + ${float(epsilon)});
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) { y[at + j] = x[at + j] * scale * gamma[j]; }
  if (lane == 0u) { inverse[row] = scale; }`;
    return [
      {
        label: 'rms_norm',
        reads: { x: 'f32', gamma: 'f32' },
        writes: { y: 'f32', inverse: 'f32' },
        ...rowCode({ rows, width }, body, limits),
      },
    ];
  },
};
