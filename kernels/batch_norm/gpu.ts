// batch_norm: a workgroup takes one channel, or several neighbouring ones where a channel's values lie apart (inner = 1), so
// that neighbouring threads read neighbouring values. Mean first, then the squares of the differences.

import type { GpuKernel } from '../gpu-contract.ts';
import { activateFunction } from '../gpu-activations.ts';
import { channelLayout } from '../gpu-layout.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, channels, inner, epsilon, momentum, activation, slope }, { limits }) => {
    const { threads, columns, lanes, declarations } = channelLayout(outer, channels, inner);
    const grid = foldedGrid(Math.ceil(channels / columns), limits);
    const size = outer * inner;
    const finished = activation === 0 ? 'value' : 'activate(value)';
    const code = `${declarations}
${activation === 0 ? '' : `alias V = f32;\n${activateFunction(activation, slope)}`}
${laneReduce('channel_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let channel = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let own = min(channel, CHANNELS - 1u);
  let lane = thread / ${columns}u;
  var sum = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) { sum += x[position(e, own)]; }
  let average = channel_sum(thread, sum) * ${float(1 / size)};
  var squares = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) {
    let difference = x[position(e, own)] - average;
    squares += difference * difference;
  }
  squares = channel_sum(thread, squares);
  let scale = 1f / sqrt(squares * ${float(1 / size)} + ${float(epsilon)});
  if (channel >= CHANNELS) { return; }
  let weight = scale * gamma[channel];
  let shift = beta[channel];
  for (var e = lane; e < SIZE; e += ${lanes}u) {
    let at = position(e, channel);
    let value = (x[at] - average) * weight + shift;
    y[at] = ${finished};
  }
  if (lane == 0u) {
    mean[channel] = average;
    inverseDeviation[channel] = scale;
    runningMean[channel] += ${float(momentum)} * (average - runningMean[channel]);
    let unbiased = squares * ${float(1 / Math.max(size - 1, 1))};
    runningVariance[channel] += ${float(momentum)} * (unbiased - runningVariance[channel]);
  }
}
`;
    return [
      {
        label: 'batch_norm',
        reads: { x: 'f32', gamma: 'f32', beta: 'f32' },
        writes: { y: 'f32', mean: 'f32', inverseDeviation: 'f32', runningMean: 'f32', runningVariance: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
