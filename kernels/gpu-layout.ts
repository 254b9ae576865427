// How a workgroup's threads are laid over a matrix when rows, columns or channels are summed: `lanes` threads share one sum.

import type { GpuLimits, GpuPass } from './gpu-contract.ts';
import { laneReduce } from './gpu-sums.ts';
import { defaultThreads, foldedGrid, groupIndex, powerOfTwo } from './gpu-wgsl.ts';

/** Values a lane should add before the tree. */
const valuesPerLane = 4;
/** Values a lane should add in a part of a sum, to be worth a second pass. */
const valuesPerPart = 8;
/** Workgroups that keep a large GPU busy: sums with fewer are cut into parts. */
const enoughGroups = 512;

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
  /** Parts the values of a column are cut into, a workgroup each, and values of a part; the last may have fewer. */
  readonly parts: number;
  readonly partSize: number;
}

/** How many parts the `count` values of a sum that `lanes` threads share are cut into, `groups` such sums at once; from the shape alone. */
function inParts(count: number, lanes: number, groups: number): Pick<ColumnLayout, 'parts' | 'partSize'> {
  const wanted = Math.min(Math.floor(count / (lanes * valuesPerPart)), Math.floor(enoughGroups / groups));
  const partSize = wanted < 2 ? count : Math.ceil(count / wanted);
  return { parts: Math.ceil(count / partSize), partSize };
}

/** Columns over `rows` rows: neighbouring threads read neighbouring columns, the rest of the threads share the rows. */
export function columnLayout(rows: number, width: number): ColumnLayout {
  const threads = 256;
  const columns = Math.min(32, powerOfTwo(width));
  const lanes = Math.min(threads / columns, powerOfTwo(rows / valuesPerLane));
  return { threads: columns * lanes, columns, lanes, ...inParts(rows, lanes, Math.ceil(width / columns)) };
}

/** An entry point whose workgroups take the parts of the columns: `body` runs with `column`, `part`, its rows from `first` to `last`, and `lane`. */
export function columnFrame(
  rows: number,
  width: number,
  { threads, columns, parts, partSize }: ColumnLayout,
  functions: string,
  body: string,
  limits: GpuLimits,
): Pick<GpuPass, 'code' | 'workgroups'> {
  const grid = foldedGrid(Math.ceil(width / columns) * parts, limits);
  const code = `const ROWS = ${rows}u;
const WIDTH = ${width}u;
${functions}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let place = ${groupIndex(grid)};
  let part = place % ${parts}u;
  let column = place / ${parts}u * ${columns}u + thread % ${columns}u;
  let lane = thread / ${columns}u;
  let first = part * ${partSize}u;
  let last = min(ROWS, first + ${partSize}u);
  ${body}
}
`;
  return { code, workgroups: grid.workgroups };
}

export interface ChannelLayout extends ColumnLayout {
  /** `CHANNELS`, `SIZE` (values of a channel) and `fn position(e, channel)` of a channel's e-th value. */
  readonly declarations: string;
}

/** Channels of [outer, channels, inner]. */
export function channelLayout(outer: number, channels: number, inner: number): ChannelLayout {
  const size = outer * inner;
  const alone = { threads: 256, columns: 1, lanes: 256, ...inParts(size, 256, channels) };
  const position =
    inner === 1 ? 'e * CHANNELS + channel' : `(e / ${inner}u * CHANNELS + channel) * ${inner}u + e % ${inner}u`;
  return {
    ...(inner === 1 ? columnLayout(size, channels) : alone),
    declarations: `const CHANNELS = ${channels}u;
const SIZE = ${size}u;
fn position(e: u32, channel: u32) -> u32 { return ${position}; }`,
  };
}

/**
 * An entry point whose workgroups take the parts of the channels: `body` runs with `channel` (past the last one too: `own` is a real
 * one), `part`, its values from `first` to `last`, and `lane`.
 */
export function channelFrame(
  channels: number,
  { threads, columns, parts, partSize, declarations }: ChannelLayout,
  functions: string,
  body: string,
  limits: GpuLimits,
): Pick<GpuPass, 'code' | 'workgroups'> {
  const grid = foldedGrid(Math.ceil(channels / columns) * parts, limits);
  const code = `${declarations}
${functions}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let place = ${groupIndex(grid)};
  let part = place % ${parts}u;
  let channel = place / ${parts}u * ${columns}u + thread % ${columns}u;
  let own = min(channel, CHANNELS - 1u);
  let lane = thread / ${columns}u;
  let first = part * ${partSize}u;
  let last = min(SIZE, first + ${partSize}u);
  ${body}
}
`;
  return { code, workgroups: grid.workgroups };
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
  const layout = { ...channelLayout(outer, channels, inner), parts: 1, partSize: outer * inner };
  const { threads, columns, lanes } = layout;
  const body = `var sum = 0f;
  for (var e = lane; e < SIZE; e += ${lanes}u) { sum += ${source}[position(e, own)]; }
  sum = channel_sum(thread, sum);
  if (lane == 0u && channel < CHANNELS) { ${target}[channel] = sum; }`;
  return {
    label: `sum of ${source} by channel`,
    reads: { [source]: 'f32' },
    writes: { [target]: 'f32' },
    ...channelFrame(channels, layout, laneReduce('channel_sum', threads, lanes, columns, 'add'), body, limits),
  };
}

/** The groups of a group norm as rows of neighbouring values, for `normalisePass`. */
export function groupRows({ batch, channels, inner, groups }: Readonly<Record<string, number>>) {
  const groupChannels = channels / groups;
  const channel = `row % ${groups}u * ${groupChannels}u + j / ${inner}u`;
  return { rows: batch * groups, width: groupChannels * inner, channel };
}
