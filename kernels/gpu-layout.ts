// How a workgroup's threads are laid over a matrix when rows, columns or channels are summed: `lanes` threads share one sum.

import { defaultThreads, powerOfTwo } from './gpu-wgsl.ts';

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
