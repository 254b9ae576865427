// batch_norm: a workgroup takes one channel, or several neighbouring ones where a channel's values lie apart (inner = 1), so
// that neighbouring threads read neighbouring values. Mean first, then the squares of the differences. Where channels are few
// and long, workgroups measure parts of them, a pass puts these together, and a third one normalises.

import type { GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { activateFunction } from '../gpu-activations.ts';
import { channelFrame, channelLayout } from '../gpu-layout.ts';
import { laneReduce } from '../gpu-sums.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

/** `average` and `squares`, the sum of squared differences from it, of the values from `first` to `last`. */
const measure = (lanes: number): string => `var sum = 0f;
  for (var e = first + lane; e < last; e += ${lanes}u) { sum += x[position(e, own)]; }
  let average = channel_sum(thread, sum) / f32(last - first);
  var differences = 0f;
  for (var e = first + lane; e < last; e += ${lanes}u) {
    let difference = x[position(e, own)] - average;
    differences += difference * difference;
  }
  let squares = channel_sum(thread, differences);`;

const deviation = ({ outer, inner, epsilon }: Params): string =>
  `let scale = 1f / sqrt(squares * ${float(1 / (outer * inner))} + ${float(epsilon)});`;

const normalise = ({ activation }: Params, lanes: number): string => `if (channel >= CHANNELS) { return; }
  let weight = scale * gamma[channel];
  let shift = beta[channel];
  for (var e = first + lane; e < last; e += ${lanes}u) {
    let at = position(e, channel);
    let value = (x[at] - average) * weight + shift;
    y[at] = ${activation === 0 ? 'value' : 'activate(value)'};
  }`;

function writeStatistics({ outer, inner, momentum }: Params): string {
  return `mean[channel] = average;
    inverseDeviation[channel] = scale;
    runningMean[channel] += ${float(momentum)} * (average - runningMean[channel]);
    let unbiased = squares * ${float(1 / Math.max(outer * inner - 1, 1))};
    runningVariance[channel] += ${float(momentum)} * (unbiased - runningVariance[channel]);`;
}

const layoutOf = ({ outer, channels, inner }: Params) => channelLayout(outer, channels, inner);
const inputs = { x: 'f32', gamma: 'f32', beta: 'f32' } as const;
const own = { mean: 'f32', inverseDeviation: 'f32' } as const;
const running = { runningMean: 'f32', runningVariance: 'f32' } as const;
const partials = { partial_mean: 'f32', partial_squares: 'f32' } as const;

export const gpu: GpuKernel = {
  temporaries: (params): Readonly<Record<string, number>> => {
    const { parts } = layoutOf(params);
    const size = parts * params.channels;
    return parts === 1 ? {} : { partial_mean: size, partial_squares: size };
  },
  passes: (params, { limits }) => {
    const { channels, activation, slope } = params;
    const layout = layoutOf(params);
    const { threads, columns, lanes, parts } = layout;
    const sums = laneReduce('channel_sum', threads, lanes, columns, 'add');
    const activate = activation === 0 ? '' : `alias V = f32;\n${activateFunction(activation, slope)}`;
    const frame = (functions: string, body: string) => channelFrame(channels, layout, functions, body, limits);
    if (parts === 1) {
      const body = `${measure(lanes)}
  ${deviation(params)}
  ${normalise(params, lanes)}
  if (lane == 0u) {
    ${writeStatistics(params)}
  }`;
      const writes = { y: 'f32', ...own, ...running } as const;
      return [{ label: 'batch_norm', reads: inputs, writes, ...frame(`${activate}${sums}`, body) }];
    }
    const part = `${measure(lanes)}
  if (lane == 0u && channel < CHANNELS) {
    partial_mean[part * CHANNELS + channel] = average;
    partial_squares[part * CHANNELS + channel] = squares;
  }`;
    const whole = `let average = mean[own];
  let scale = inverseDeviation[own];
  ${normalise(params, lanes)}`;
    return [
      { label: `batch_norm of ${parts} parts`, reads: { x: 'f32' }, writes: partials, ...frame(sums, part) },
      together(params, limits),
      { label: 'batch_norm', reads: { ...inputs, ...own }, writes: { y: 'f32' }, ...frame(activate, whole) },
    ];
  },
};

/** A channel's statistics from those of its parts, in their order: Chan, Golub and LeVeque 1979. */
function together(params: Params, limits: GpuLimits): GpuPass {
  const { outer, channels, inner } = params;
  const size = outer * inner;
  const { parts, partSize } = layoutOf(params);
  // The last part may be shorter.
  const weight = `f32(min(${partSize}u, ${size}u - p * ${partSize}u))`;
  const body = `let channel = i;
  var sum = 0f;
  for (var p = 0u; p < ${parts}u; p++) { sum += partial_mean[p * LENGTH + i] * ${weight}; }
  let average = sum * ${float(1 / size)};
  var squares = 0f;
  for (var p = 0u; p < ${parts}u; p++) {
    let difference = partial_mean[p * LENGTH + i] - average;
    squares += partial_squares[p * LENGTH + i] + difference * difference * ${weight};
  }
  ${deviation(params)}
  ${writeStatistics(params)}`;
  const view = scalarView(channels, limits);
  return {
    label: `batch_norm, ${parts} parts together`,
    reads: partials,
    writes: { ...own, ...running },
    code: elementwise(view, body),
    workgroups: view.workgroups,
  };
}
