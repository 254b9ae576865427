// Some rows of a prepared dataset in memory, drawn from all over it: shards from its beginning to its end, and rows from all over each.
// N rows, W values a row.

import { drawnPlaces, shuffle } from '../optim/random.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import type { Pace, SampledRows } from './check.ts';

const most = { train: 8_192, validation: 2_048, bytes: 64e6, shards: 8, milliseconds: 1_500 } as const;
/** Stream of random numbers of the rows that are drawn, and of labels that are shuffled. */
const drawn = 3_000;

export interface Reading {
  readonly sample: SampledRows;
  /** Rows that were read for it, and in how many milliseconds. */
  readonly rows: number;
  readonly milliseconds: number;
}

type Values = Shard['x'];

/** `readShard` reads rows of `data`. A slow source gives fewer of them. */
export async function readSample(
  { data, readShard }: { readonly data: PreparedData; readonly readShard: (shard: number) => Promise<Shard> },
  seed: number,
  { clock, breathe }: Pace,
): Promise<Reading> {
  const { counts, width, targets, shardStarts } = data;
  const parts: Taken[] = [];
  const bytes = width * (data.input.kind === 'image' ? 1 : 4);
  const fits = Math.max(64, Math.floor(most.bytes / bytes));
  const read = new Map<number, Shard>();
  let rows = 0;
  const start = clock();
  for (const split of ['train', 'validation'] as const) {
    const first = split === 'train' ? 0 : counts.train;
    const last = first + counts[split];
    const wanted = Math.min(most[split], counts[split], Math.ceil(fits * (split === 'train' ? 0.8 : 0.2)));
    const shards = spreadOver(shardsOf(shardStarts, first, last), most.shards);
    const total = shards.reduce((sum, shard) => sum + overlap(shardStarts, shard, first, last).count, 0);
    for (const [i, shard] of shards.entries()) {
      if (i > 0 && clock() - start > most.milliseconds) break;
      await breathe();
      if (!read.has(shard)) {
        read.set(shard, await readShard(shard));
        rows += shardStarts[shard + 1] - shardStarts[shard];
      }
      const { from, count } = overlap(shardStarts, shard, first, last);
      const places = drawnPlaces(count, Math.max(1, Math.round((wanted * count) / total)), seed, drawn + shard);
      const inShard = places.map((place) => from + place);
      const taken = take(read.get(shard)!, inShard, split, width, targets);
      const parted = split === 'train' && data.parts;
      const own = parted && Uint8Array.from(inShard, (place) => parted[shardStarts[shard] + place]);
      parts.push(own ? { ...taken, parted: own } : taken);
    }
  }
  const milliseconds = clock() - start;
  const of = (split: Taken['split']): number =>
    parts.filter((part) => part.split === split).reduce((sum, part) => sum + part.rows, 0);
  return { sample: joined(data, parts, { train: of('train'), validation: of('validation') }), rows, milliseconds };
}

interface Taken {
  readonly split: 'train' | 'validation';
  readonly rows: number;
  readonly x: Values;
  readonly y: Float32Array;
  /** Of the training rows of a run that cuts them up: the part of each. */
  readonly parted?: Uint8Array;
}

function shardsOf(starts: readonly number[], first: number, last: number): readonly number[] {
  return Array.from({ length: starts.length - 1 }, (_, shard) => shard).filter(
    (shard) => starts[shard] < last && starts[shard + 1] > first,
  );
}

function overlap(starts: readonly number[], shard: number, first: number, last: number) {
  const from = Math.max(first, starts[shard]);
  return { from: from - starts[shard], count: Math.min(last, starts[shard + 1]) - from };
}

function spreadOver(all: readonly number[], count: number): readonly number[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))]);
}

function take(shard: Shard, places: Uint32Array, split: Taken['split'], width: number, targets: number): Taken {
  const x = shard.x.slice(0, 0).constructor as new (length: number) => Values;
  const values = new x(places.length * width);
  const y = new Float32Array(places.length * targets);
  places.forEach((place, row) => {
    values.set(shard.x.subarray(place * width, (place + 1) * width), row * width);
    y.set(shard.y.subarray(place * targets, (place + 1) * targets), row * targets);
  });
  return { split, rows: places.length, x: values, y };
}

function joined(
  data: PreparedData,
  parts: readonly Taken[],
  counts: { readonly train: number; readonly validation: number },
): SampledRows {
  const rows = counts.train + counts.validation;
  const like = parts[0]?.x ?? new Float32Array(0);
  const x = new (like.constructor as new (length: number) => Values)(rows * data.width);
  const y = new Float32Array(rows * data.targets);
  let row = 0;
  for (const part of parts) {
    x.set(part.x, row * data.width);
    y.set(part.y, row * data.targets);
    row += part.rows;
  }
  const parted = Uint8Array.from(parts.flatMap(({ parted: own = [] }) => [...own]));
  const sample = asRows(data, { rows, x, y }, counts);
  return data.parts ? { ...sample, data: { ...sample.data, parts: parted } } : sample;
}

/** A dataset of these rows: the classes keep the weights they have in all of it. */
export function asRows(
  data: PreparedData,
  shard: Shard,
  counts: { readonly train: number; readonly validation: number },
): SampledRows {
  const own = { handle: `${data.handle} sample`, counts: { ...counts, test: 0 }, shardStarts: [0, shard.rows] };
  return { data: { ...data, ...own, sources: undefined, parts: undefined }, shard };
}

/** Some rows of a sample, by their places, as a training split alone. */
export function pick({ data, shard }: SampledRows, places: Uint32Array): SampledRows {
  const { x, y, rows } = take(shard, places, 'train', data.width, data.targets);
  return asRows(data, { rows, x, y }, { train: rows, validation: 0 });
}

/** The same rows with the labels of each split dealt out anew. */
export function withShuffledLabels({ data, shard }: SampledRows, seed: number): SampledRows {
  const { train, validation } = data.counts;
  const order = Uint32Array.from({ length: train }, (_, row) => row);
  const after = Uint32Array.from({ length: validation }, (_, row) => train + row);
  shuffle(order, seed, drawn, 1);
  shuffle(after, seed, drawn, 2);
  const y = new Float32Array(shard.y.length);
  [...order, ...after].forEach((from, row) => {
    y.set(shard.y.subarray(from * data.targets, (from + 1) * data.targets), row * data.targets);
  });
  return { data, shard: { ...shard, y } };
}

/**
 * Places of `count` training rows that differ from each other, of all classes in turns, as far as there are any; fewer where there
 * are no more.
 */
export function differentRows({ data, shard }: SampledRows, count: number, seed: number): Uint32Array {
  const { width, targets, counts } = data;
  const order = Uint32Array.from({ length: counts.train }, (_, row) => row);
  shuffle(order, seed, drawn, 3);
  const classes = data.output.kind === 'classes';
  const queues = new Map<number, number[]>();
  for (const row of order) {
    const label = classes ? shard.y[row * targets] : 0;
    const queue = queues.get(label) ?? [];
    if (queue.length < 4 * count) queue.push(row);
    queues.set(label, queue);
  }
  const seen = new Set<string>();
  const found: number[] = [];
  const waiting = [...queues.values()];
  while (found.length < count && waiting.some((queue) => queue.length > 0)) {
    for (const queue of waiting) {
      const row = queue.shift();
      if (row === undefined || found.length === count) continue;
      const key = shard.x.subarray(row * width, (row + 1) * width).join();
      if (!seen.has(key)) found.push(row);
      seen.add(key);
    }
  }
  return Uint32Array.from(found);
}
