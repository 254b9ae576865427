// text_lengths: a thread a row.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ batch, length, codesWidth, codesColumn }, { limits }) => {
    const view = scalarView(batch, limits);
    const body = `var tokens = ${length}u;
  while (tokens > 1u && codes[i * ${codesWidth}u + ${codesColumn}u + tokens - 1u] == 0f) { tokens--; }
  lengths[i] = f32(tokens);`;
    return [
      {
        label: 'text_lengths',
        reads: { codes: 'f32' },
        writes: { lengths: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
