// batch_norm_grad: both sums of a channel, then its dx, by the same workgroup. Channels lie as in batch_norm.

import type { GpuKernel } from '../gpu-contract.ts';
import { channelLayout } from '../gpu-layout.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, channels, inner }, { limits }) => {
    const { threads, columns, lanes, declarations } = channelLayout(outer, channels, inner);
    const grid = foldedGrid(Math.ceil(channels / columns), limits);
    const share = float(1 / (outer * inner));
    const code = `${declarations}
${laneReduce('channel_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let channel = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let own = min(channel, CHANNELS - 1u);
  let lane = thread / ${columns}u;
  let average = mean[own];
  let scale = inverseDeviation[own];
  var sum = 0f;
  var sum_normalised = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) {
    let at = position(e, own);
    sum += dy[at];
    sum_normalised += dy[at] * (x[at] - average) * scale;
  }
  sum = channel_sum(thread, sum);
  sum_normalised = channel_sum(thread, sum_normalised);
  if (channel >= CHANNELS) { return; }
  let weight = gamma[channel] * scale;
  for (var e = lane; e < SIZE; e += ${lanes}u) {
    let at = position(e, channel);
    let normalised = (x[at] - average) * scale;
    dx[at] = weight * (dy[at] - sum * ${share} - normalised * (sum_normalised * ${share}));
  }
  if (lane == 0u) {
    dgamma[channel] = sum_normalised;
    dbeta[channel] = sum;
  }
}
`;
    return [
      {
        label: 'batch_norm_grad',
        reads: { dy: 'f32', x: 'f32', gamma: 'f32', mean: 'f32', inverseDeviation: 'f32' },
        writes: { dx: 'f32', dgamma: 'f32', dbeta: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
