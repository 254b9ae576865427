// Prepared rows as trees take them: one byte a value and a target a row. The rows are read twice, shard by shard: for a sample
// that the bins are made by, and to be put into them, so that no more than a shard of values is in memory.

import { drawnPlaces } from '../../optim/random.ts';
import type { RawColumn } from '../../model/spec.ts';
import type { Rows } from '../learner.ts';
import { binsOf, moveKnown, numberBins, type ColumnBins } from './bins.ts';
import { hostBinner, openBinner, paysOnDevice, sortColumns } from './table-device.ts';

export interface BinnedRows {
  readonly rows: number;
  /** Columns. */
  readonly width: number;
  /** [rows, width] */
  readonly bins: Uint8Array;
  /** [rows]: class numbers or standardised values; NaN where there is none. */
  readonly targets: Float32Array;
}

/** Rows of the training split that bins are made by, at most. */
const mostSampled = 200_000;
/** Of random numbers. */
const sampleStream = 3001;

type Read = Pick<Rows, 'data' | 'readShard' | 'backend'>;

/** Throws RangeError for rows of another form. */
export function rawColumns({ input }: Read['data']): readonly RawColumn[] {
  if (input.kind !== 'columns') throw new RangeError('trees take columns as they are');
  return input.columns;
}

/** The bins of all columns, by the training rows. */
export async function columnBins(
  { data, readShard, backend }: Read,
  breathe: () => Promise<void>,
): Promise<ColumnBins[]> {
  const columns = rawColumns(data);
  const width = columns.length;
  // The same for any seed: what is learnt of the columns is no matter of luck.
  const places = drawnPlaces(data.counts.train, mostSampled, 0, sampleStream);
  const sample = columns.map(() => new Float64Array(places.length));
  let next = 0;
  // A few rows at a time, so that they are still in the cache when the last column takes them.
  const few = 128;
  for (let shard = 0; shard + 1 < data.shardStarts.length && next < places.length; shard++) {
    const [start, end] = [data.shardStarts[shard], data.shardStarts[shard + 1]];
    if (places[next] >= end) continue;
    const { x } = await readShard(shard);
    while (next < places.length && places[next] < end) {
      const first = next;
      while (next < places.length && next < first + few && places[next] < end) next++;
      for (let column = 0; column < width; column++) {
        const own = sample[column];
        for (let i = first; i < next; i++) own[i] = x[(places[i] - start) * width + column];
      }
    }
    await breathe();
  }
  const sorted = paysOnDevice(places.length * width) ? await sortedNumbers(columns, sample, backend, breathe) : null;
  const bins: ColumnBins[] = [];
  for (const [index, column] of columns.entries()) {
    const own = sorted?.get(index);
    bins.push(own ? numberBins(own) : binsOf(column, sample[index]));
    await breathe();
  }
  return bins;
}

/** Of each column of numbers what is known of it, in order: by the device. */
async function sortedNumbers(
  columns: readonly RawColumn[],
  sample: readonly Float64Array<ArrayBuffer>[],
  backend: Read['backend'],
  breathe: () => Promise<void>,
): Promise<ReadonlyMap<number, Float64Array>> {
  const numbers = [...columns.keys()].filter((column) => columns[column].kind === 'number');
  if (numbers.length === 0) return new Map();
  const known = numbers.map((column) => sample[column].subarray(0, moveKnown(sample[column])));
  for await (const _ of sortColumns(await backend(), known)) await breathe();
  return new Map(numbers.map((column, i) => [column, known[i]]));
}

/** All rows in their bins. */
export async function readBinned(
  { data, readShard, backend }: Read,
  columns: readonly ColumnBins[],
  breathe: () => Promise<void>,
): Promise<BinnedRows> {
  const { shardStarts } = data;
  const rows = shardStarts[shardStarts.length - 1];
  const width = columns.length;
  const binned = { rows, width, bins: new Uint8Array(rows * width), targets: new Float32Array(rows) };
  const binner = paysOnDevice(rows * width)
    ? await openBinner(await backend(), columns, largestShard(shardStarts))
    : hostBinner(columns);
  try {
    for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
      const first = shardStarts[shard];
      const count = shardStarts[shard + 1] - first;
      const { x, y } = await readShard(shard);
      binned.targets.set(y.subarray(0, count), first);
      const bins = binned.bins.subarray(first * width, (first + count) * width);
      for await (const _ of binner.put(x as ArrayLike<number>, count, bins)) await breathe();
    }
  } finally {
    binner.close();
  }
  return binned;
}

/** Rows of the largest shard. */
export const largestShard = (shardStarts: readonly number[]): number =>
  shardStarts.reduce((most, start, i) => Math.max(most, i > 0 ? start - shardStarts[i - 1] : 0), 0);
