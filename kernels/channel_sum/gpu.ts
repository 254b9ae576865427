// channel_sum: a workgroup takes one channel, or several neighbouring ones where a channel's values lie apart.

import type { GpuKernel } from '../gpu-contract.ts';
import { channelSumPass } from '../gpu-layout.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, channels, inner }, { limits }) => [channelSumPass('x', 'y', outer, channels, inner, limits)],
};
