// average_pool_grad, one element of dx a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { poolGradientPass } from '../gpu-pooling.ts';
import { float } from '../gpu-wgsl.ts';
import type { Pooling } from '../pooling.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const share = float(1 / (params.windowHeight * params.windowWidth));
    return [poolGradientPass('average_pool_grad', params as Pooling, limits, ['dy'], `sum += dy[window] * ${share};`)];
  },
};
