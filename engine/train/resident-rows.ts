// The rows on the device. A dataset that fits stays there for the whole run; a larger one is shown window by window, read
// from its shards when needed and fetched ahead while the window before it trains.

import type { Executable } from '../backends/backend.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import { rowsResident } from './session-sizes.ts';

export type ReadShard = (shard: number) => Promise<Shard>;

/** Consecutive rows [start, end). */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** Rows the device can hold within `budget` bytes, a multiple of `batch` when not all rows fit. */
export function residentCapacity(data: PreparedData, budget: number, batch: number): number {
  return rowsResident(data.shardStarts[data.shardStarts.length - 1], data, budget, batch);
}

/** Cuts a range into windows of at most `capacity` rows. */
export function windowsOf({ start, end }: RowRange, capacity: number): readonly RowRange[] {
  const windows: RowRange[] = [];
  for (let from = start; from < end; from += capacity)
    windows.push({ start: from, end: Math.min(end, from + capacity) });
  return windows;
}

export class ResidentRows {
  /** Targets [rows, targets] of all rows shown so far, for metrics on the host. */
  readonly targets: Float32Array;
  readonly capacity: number;
  readonly #data: PreparedData;
  readonly #readShard: ReadShard;
  readonly #executable: Executable;
  readonly #ahead = new Map<number, Promise<Shard>>();
  #shown: RowRange = { start: 0, end: 0 };

  constructor(data: PreparedData, readShard: ReadShard, executable: Executable, capacity: number) {
    this.#data = data;
    this.#readShard = readShard;
    this.#executable = executable;
    this.capacity = capacity;
    this.targets = new Float32Array(this.total * data.targets);
  }

  get total(): number {
    return this.#data.shardStarts[this.#data.shardStarts.length - 1];
  }

  /** The device row of the first row of `range`, if all of them are resident. */
  shown({ start, end }: RowRange): number | null {
    return start >= this.#shown.start && end <= this.#shown.end ? start - this.#shown.start : null;
  }

  /** Makes the rows of `range` resident; returns the device row of its first one. */
  async show(range: RowRange): Promise<number> {
    const there = this.shown(range);
    if (there !== null) return there;
    const wanted = this.total <= this.capacity ? { start: 0, end: this.total } : range;
    for (const index of this.#shardsOf(wanted)) {
      const shard = await (this.#ahead.get(index) ?? this.#readShard(index));
      this.#ahead.delete(index);
      this.#copy(shard, this.#data.shardStarts[index], wanted);
    }
    this.#shown = wanted;
    return range.start - wanted.start;
  }

  /**
   * Makes rows from anywhere resident, one behind the other from the device's first row on. `rows` ascend, at most `capacity`.
   * For the rest of an epoch whose windows are larger than this device can hold: it reads every shard that has one of them.
   */
  async gather(rows: Uint32Array): Promise<void> {
    this.#shown = { start: 0, end: 0 };
    const { shardStarts, width, targets } = this.#data;
    for (let done = 0, index = 0; done < rows.length; index++) {
      let end = done;
      while (end < rows.length && rows[end] < shardStarts[index + 1]) end++;
      if (end === done) continue;
      const shard = await this.#readShard(index);
      const x = networkValues(shard).slice(0, (end - done) * width);
      const y = new Float32Array((end - done) * targets);
      for (let i = done; i < end; i++) {
        const row = rows[i] - shardStarts[index];
        x.set(networkValues(shard).subarray(row * width, (row + 1) * width), (i - done) * width);
        y.set(shard.y.subarray(row * targets, (row + 1) * targets), (i - done) * targets);
      }
      this.#executable.write('data.x', x, done * width);
      this.#executable.write('data.y', y, done * targets);
      for (let i = done; i < end; i++) {
        this.targets.set(y.subarray((i - done) * targets, (i - done + 1) * targets), rows[i] * targets);
      }
      done = end;
    }
  }

  /** Starts reading the first shard of a range that will be shown next. */
  prefetch(range: RowRange): void {
    if (this.total <= this.capacity) return;
    const [first] = this.#shardsOf(range);
    if (first === undefined || this.#ahead.has(first)) return;
    const reading = this.#readShard(first);
    reading.catch(() => {}); // reported when it is shown
    this.#ahead.clear();
    this.#ahead.set(first, reading);
  }

  #shardsOf({ start, end }: RowRange): readonly number[] {
    const starts = this.#data.shardStarts;
    const indices: number[] = [];
    for (let i = 0; i + 1 < starts.length; i++) if (starts[i] < end && starts[i + 1] > start) indices.push(i);
    return indices;
  }

  #copy(shard: Shard, shardStart: number, wanted: RowRange): void {
    const { width, targets } = this.#data;
    const from = Math.max(wanted.start, shardStart);
    const to = Math.min(wanted.end, shardStart + shard.rows);
    const [first, last] = [from - shardStart, to - shardStart];
    const y = shard.y.subarray(first * targets, last * targets);
    this.#executable.write(
      'data.x',
      networkValues(shard).subarray(first * width, last * width),
      (from - wanted.start) * width,
    );
    this.#executable.write('data.y', y, (from - wanted.start) * targets);
    this.targets.set(y, from * targets);
  }
}

/** Rows that a network can be fed with: its graph has refused columns as they are. */
function networkValues({ x }: Shard): Float32Array | Uint8Array {
  if (x instanceof Float64Array) throw new RangeError('columns as they are have no place on a device');
  return x;
}
