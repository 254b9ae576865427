// batch_norm_grad: both sums of a channel, then its dx, by the same workgroup. Channels lie as in batch_norm; where they are few
// and long, workgroups add up parts of them, then these are added, and a last pass writes dx.

import type { GpuKernel } from '../gpu-contract.ts';
import { channelFrame, channelLayout } from '../gpu-layout.ts';
import { partialName, partialSizes, sumSplits } from '../gpu-splits.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

const statistics = `let average = mean[own];
  let scale = inverseDeviation[own];`;

/** `sum` of dy and `sum_normalised` of dy·x̂ over the values from `first` to `last`. */
const addUp = (lanes: number): string => `var own_sum = 0f;
  var own_normalised = 0f;
  for (var e = first + lane; e < last; e += ${lanes}u) {
    let at = position(e, own);
    own_sum += dy[at];
    own_normalised += dy[at] * (x[at] - average) * scale;
  }
  let sum = channel_sum(thread, own_sum);
  let sum_normalised = channel_sum(thread, own_normalised);`;

/** Of a channel, or of a part of it, into the operand or its partial results. */
const writeSums = (parts: number): string => `if (lane == 0u && channel < CHANNELS) {
    ${partialName('dgamma', parts)}[part * CHANNELS + channel] = sum_normalised;
    ${partialName('dbeta', parts)}[part * CHANNELS + channel] = sum;
  }`;

const writeGradient = (lanes: number, share: string): string => `if (channel >= CHANNELS) { return; }
  let weight = gamma[channel] * scale;
  for (var e = first + lane; e < last; e += ${lanes}u) {
    let at = position(e, channel);
    let normalised = (x[at] - average) * scale;
    dx[at] = weight * (dy[at] - sum * ${share} - normalised * (sum_normalised * ${share}));
  }`;

const layoutOf = ({ outer, channels, inner }: Params) => channelLayout(outer, channels, inner);
const sizesOf = ({ channels }: Params): Readonly<Record<string, number>> => ({ dgamma: channels, dbeta: channels });
const sums = { dgamma: 'f32', dbeta: 'f32' } as const;

export const gpu: GpuKernel = {
  temporaries: (params, context) => partialSizes(sizesOf(params), layoutOf(params).parts, context),
  passes: (params, context) => {
    const { outer, channels, inner } = params;
    const layout = layoutOf(params);
    const { threads, columns, lanes, parts } = layout;
    const reduce = laneReduce('channel_sum', threads, lanes, columns, 'add');
    const read = { dy: 'f32', x: 'f32', mean: 'f32', inverseDeviation: 'f32' } as const;
    const reads = { ...read, gamma: 'f32' } as const;
    const gradient = writeGradient(lanes, float(1 / (outer * inner)));
    const frame = (functions: string, body: string) =>
      channelFrame(channels, layout, functions, `${statistics}\n  ${body}`, context.limits);
    if (parts === 1) {
      const whole = frame(reduce, `${addUp(lanes)}\n  ${writeSums(1)}\n  ${gradient}`);
      return [{ label: 'batch_norm_grad', reads, writes: { dx: 'f32', ...sums }, ...whole }];
    }
    const given = `let sum = dbeta[own];\n  let sum_normalised = dgamma[own];`;
    return [
      {
        label: `batch_norm_grad of ${parts} parts`,
        reads: read,
        writes: { partial_dgamma: 'f32', partial_dbeta: 'f32' },
        ...frame(reduce, `${addUp(lanes)}\n  ${writeSums(parts)}`),
      },
      ...sumSplits(sizesOf(params), parts, context),
      {
        label: 'batch_norm_grad',
        reads: { ...reads, ...sums },
        writes: { dx: 'f32' },
        ...frame('', `${given}\n  ${gradient}`),
      },
    ];
  },
};
