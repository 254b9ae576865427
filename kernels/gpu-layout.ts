// How a workgroup's threads are laid over a matrix when rows, columns or channels are summed: `lanes` threads share one sum.

import type { GpuLimits, GpuPass } from './gpu-contract.ts';
import { laneReduce } from './gpu-sums.ts';
import { defaultThreads, foldedGrid, groupIndex, powerOfTwo } from './gpu-wgsl.ts';

/** Values a lane should add before the tree. */
const valuesPerLane = 4;

export interface RowLayout {
  readonly threads: number;
  /** Neighbouring threads that share a row. */
  readonly lanes: number;
  readonly rowsPerGroup: number;
}

/** Rows of `width` values: as many lanes as give each a few values. */
export function rowLayout(width: number): RowLayout {
  const threads = defaultThreads;
  const lanes = Math.min(threads, powerOfTwo(width / valuesPerLane));
  return { threads, lanes, rowsPerGroup: threads / lanes };
}

export interface ColumnLayout {
  readonly threads: number;
  /** Neighbouring columns a workgroup takes: thread % columns. */
  readonly columns: number;
  /** Threads that share a column, `columns` apart. */
  readonly lanes: number;
}

/** Columns over `rows` rows: neighbouring threads read neighbouring columns, the rest of the threads share the rows. */
export function columnLayout(rows: number, width: number): ColumnLayout {
  const threads = 256;
  const columns = Math.min(32, powerOfTwo(width));
  const lanes = Math.min(threads / columns, powerOfTwo(rows / valuesPerLane));
  return { threads: columns * lanes, columns, lanes };
}

export interface ChannelLayout extends ColumnLayout {
  /** `CHANNELS`, `SIZE` (values of a channel) and `fn position(e, channel)` of a channel's e-th value. */
  readonly declarations: string;
}

/** Channels of [outer, channels, inner]. */
export function channelLayout(outer: number, channels: number, inner: number): ChannelLayout {
  const size = outer * inner;
  const alone = { threads: 256, columns: 1, lanes: 256 };
  const position =
    inner === 1 ? 'e * CHANNELS + channel' : `(e / ${inner}u * CHANNELS + channel) * ${inner}u + e % ${inner}u`;
  return {
    ...(inner === 1 ? columnLayout(size, channels) : alone),
    declarations: `const CHANNELS = ${channels}u;
const SIZE = ${size}u;
fn position(e: u32, channel: u32) -> u32 { return ${position}; }`,
  };
}

/** The pass target[c] = Σ source[·, c, ·] of [outer, channels, inner]. */
export function channelSumPass(
  source: string,
  target: string,
  outer: number,
  channels: number,
  inner: number,
  limits: GpuLimits,
): GpuPass {
  const { threads, columns, lanes, declarations } = channelLayout(outer, channels, inner);
  const grid = foldedGrid(Math.ceil(channels / columns), limits);
  const code = `${declarations}
${laneReduce('channel_sum', threads, lanes, columns, 'add')}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let channel = ${groupIndex(grid)} * ${columns}u + thread % ${columns}u;
  let own = min(channel, CHANNELS - 1u);
  let lane = thread / ${columns}u;
  var sum = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) { sum += ${source}[position(e, own)]; }
  sum = channel_sum(thread, sum);
  if (lane == 0u && channel < CHANNELS) { ${target}[channel] = sum; }
}
`;
  return {
    label: `sum of ${source} by channel`,
    reads: { [source]: 'f32' },
    writes: { [target]: 'f32' },
    code,
    workgroups: grid.workgroups,
  };
}

/** The groups of a group norm as rows of neighbouring values, for `normalisePass`. */
export function groupRows({ batch, channels, inner, groups }: Readonly<Record<string, number>>) {
  const groupChannels = channels / groups;
  const channel = `row % ${groups}u * ${groupChannels}u + j / ${inner}u`;
  return { rows: batch * groups, width: groupChannels * inner, channel };
}
