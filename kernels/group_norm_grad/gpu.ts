// group_norm_grad: dx by groups in one pass, dgamma and dbeta by channels in another.

import type { GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { channelLayout, groupRows } from '../gpu-layout.ts';
import { normaliseGradientPass } from '../gpu-normalise.ts';
import { laneReduce } from '../gpu-sums.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

export const gpu: GpuKernel = {
  passes: (params, { limits }) => [
    normaliseGradientPass({ label: 'group_norm_grad', ...groupRows(params) }, limits),
    parameterPass(params, limits),
  ],
};

function parameterPass({ batch, channels, inner, groups }: Params, limits: GpuLimits): GpuPass {
  const { threads, columns, lanes, declarations } = channelLayout(batch, channels, inner);
  const grid = foldedGrid(Math.ceil(channels / columns), limits);
  const code = `${declarations}
${laneReduce('channel_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let channel = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let own = min(channel, CHANNELS - 1u);
  let lane = thread / ${columns}u;
  var sum = 0f;
  var sum_normalised = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) {
    let at = position(e, own);
    let statistics = e / ${inner}u * ${groups}u + own / ${channels / groups}u;
    sum += dy[at];
    sum_normalised += dy[at] * (x[at] - mean[statistics]) * inverseDeviation[statistics];
  }
  sum = channel_sum(thread, sum);
  sum_normalised = channel_sum(thread, sum_normalised);
  if (lane == 0u && channel < CHANNELS) {
    dbeta[channel] = sum;
    dgamma[channel] = sum_normalised;
  }
}
`;
  return {
    label: 'group_norm_grad dgamma',
    reads: { dy: 'f32', x: 'f32', mean: 'f32', inverseDeviation: 'f32' },
    writes: { dgamma: 'f32', dbeta: 'f32' },
    code,
    workgroups: grid.workgroups,
  };
}
