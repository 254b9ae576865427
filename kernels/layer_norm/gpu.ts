// layer_norm: the rows are normalised, each value has its own gamma and beta.

import type { GpuKernel } from '../gpu-contract.ts';
import { normalisePass } from '../gpu-normalise.ts';

export const gpu: GpuKernel = {
  passes: ({ rows, width, epsilon }, { limits }) => [
    normalisePass({ label: 'layer_norm', rows, width, channel: 'j' }, epsilon, limits),
  ],
};
