// group_norm: a group of an example is a row of neighbouring values; gamma and beta belong to its channels.

import type { GpuKernel } from '../gpu-contract.ts';
import { groupRows } from '../gpu-layout.ts';
import { normalisePass } from '../gpu-normalise.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => [
    normalisePass({ label: 'group_norm', ...groupRows(params) }, params.epsilon, limits),
  ],
};
