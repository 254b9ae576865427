// max_pool, one window a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { poolPass } from '../gpu-pooling.ts';
import { float } from '../gpu-wgsl.ts';
import type { Pooling } from '../pooling.ts';

/** Less than every float32 value that occurs. */
const lowest = float(-3.4e38);

export const gpu: GpuKernel = {
  passes: (params, { limits }) => [
    poolPass('max_pool', params as Pooling, limits, {
      start: `var largest = ${lowest};`,
      visit: 'largest = max(largest, value);',
      result: 'largest',
    }),
  ],
};
