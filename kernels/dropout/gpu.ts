// dropout: a thread draws both words of one threefry block, for two neighbouring elements. The same integers as on the CPU.

import type { GpuKernel } from '../gpu-contract.ts';
import { keepFunction, threefryFunction } from '../gpu-random.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count, rate, seed, stream }, { limits, has }) => {
    const view = scalarView(Math.ceil(count / 2), limits);
    const second = count % 2 === 0 ? '' : `if (2u * i + 1u >= ${count}u) { return; }`;
    const share = has('scalars') ? '* scalars[step * 4u + 3u]' : '';
    const body = `let words = threefry(i, counters[step]);
  let rate = ${float(rate)} ${share};
  y[2u * i] = keep(x[2u * i], words.x, rate);
  ${second}
  y[2u * i + 1u] = keep(x[2u * i + 1u], words.y, rate);`;
    return [
      {
        label: 'dropout',
        reads: { x: 'f32', counters: 'u32', ...(share ? { scalars: 'f32' as const } : {}) },
        writes: { y: 'f32' },
        usesStep: true,
        code: elementwise(view, body, `${threefryFunction(seed, stream)}\n${keepFunction}`),
        workgroups: view.workgroups,
      },
    ];
  },
};
