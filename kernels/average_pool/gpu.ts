// average_pool, one window a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { poolPass } from '../gpu-pooling.ts';
import { float } from '../gpu-wgsl.ts';
import type { Pooling } from '../pooling.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => [
    poolPass('average_pool', params as Pooling, limits, {
      start: 'var sum = 0f;',
      visit: 'sum += value;',
      result: `sum * ${float(1 / (params.windowHeight * params.windowWidth))}`,
    }),
  ],
};
