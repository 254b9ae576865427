// Prepared rows as trees take them: one byte a value and a target a row. The rows are read twice, shard by shard: for a sample
// that the bins are made by, and to be put into them, so that no more than a shard of values is in memory.

import { drawnPlaces } from '../../optim/random.ts';
import type { RawColumn } from '../../model/spec.ts';
import type { Rows } from '../learner.ts';
import { binnerOf, binsOf, type ColumnBins } from './bins.ts';

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

type Read = Pick<Rows, 'data' | 'readShard'>;

/** Throws RangeError for rows of another form. */
export function rawColumns({ input }: Read['data']): readonly RawColumn[] {
  if (input.kind !== 'columns') throw new RangeError('trees take columns as they are');
  return input.columns;
}

/** The bins of all columns, by the training rows. */
export async function columnBins({ data, readShard }: Read, breathe: () => Promise<void>): Promise<ColumnBins[]> {
  const columns = rawColumns(data);
  const width = columns.length;
  // The same for any seed: what is learnt of the columns is no matter of luck.
  const places = drawnPlaces(data.counts.train, mostSampled, 0, sampleStream);
  const sample = columns.map(() => new Float64Array(places.length));
  let next = 0;
  for (let shard = 0; shard + 1 < data.shardStarts.length && next < places.length; shard++) {
    const [start, end] = [data.shardStarts[shard], data.shardStarts[shard + 1]];
    if (places[next] >= end) continue;
    const { x } = await readShard(shard);
    for (; next < places.length && places[next] < end; next++) {
      const at = (places[next] - start) * width;
      for (let column = 0; column < width; column++) sample[column][next] = x[at + column];
    }
    await breathe();
  }
  const bins: ColumnBins[] = [];
  for (const [index, column] of columns.entries()) {
    bins.push(binsOf(column, sample[index]));
    await breathe();
  }
  return bins;
}

/** All rows in their bins. */
export async function readBinned(
  { data, readShard }: Read,
  columns: readonly ColumnBins[],
  breathe: () => Promise<void>,
): Promise<BinnedRows> {
  const { shardStarts } = data;
  const rows = shardStarts[shardStarts.length - 1];
  const width = columns.length;
  const binned = { rows, width, bins: new Uint8Array(rows * width), targets: new Float32Array(rows) };
  const binners = columns.map(binnerOf);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const first = shardStarts[shard];
    const count = shardStarts[shard + 1] - first;
    const { x, y } = await readShard(shard);
    binned.targets.set(y.subarray(0, count), first);
    for (const [at, binner] of binners.entries()) {
      binner(x as ArrayLike<number>, count, width, at, binned.bins, first);
      if (count > 50_000) await breathe();
    }
    await breathe();
  }
  return binned;
}
