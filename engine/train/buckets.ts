// Buckets of rows by the tokens of their text: a batch is of one bucket, and its step reads no more positions than the longest row of the
// bucket has. Which lengths there are is a function of the training rows alone, never of the device: an epoch under way depends on it.

import type { ResolvedModel } from '../model/resolve.ts';
import type { TrainingSpec } from '../model/spec.ts';
import { shuffle } from '../optim/random.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { ReadShard } from './resident-rows.ts';
import { isBucketed, largestPredictBatch, lengthOf, readsOneText } from './session-sizes.ts';

/** Buckets at most: each is a program of its own. */
const mostBuckets = 16;
/** The same of predictions, which are over after one look at each row; no more than there are steps. */
const mostPredicted = 4;
/** Share of padding below which no more buckets are made. */
const littlePadding = 0.07;
/** Different lengths that are looked at as ends of buckets, at most. */
const mostEnds = 256;

export interface Buckets {
  /** Tokens of the longest row of each bucket, ascending. */
  readonly lengths: readonly number[];
  /** The bucket of each row. */
  readonly of: Uint8Array;
  /** Tokens of all rows. */
  readonly tokens: number;
}

/** Where an epoch is dealt to buckets: batches of so many rows. */
export interface Dealing {
  readonly buckets: Buckets;
  readonly batch: number;
}

/** The buckets of the training rows; null where the run has none. */
export async function bucketsOf(
  model: ResolvedModel,
  data: PreparedData,
  training: Pick<TrainingSpec, 'bucketing' | 'batch'>,
  readShard: ReadShard,
): Promise<Buckets | null> {
  if (!isBucketed(model, data.counts.train, training)) return null;
  return bucketsFor(await tokensOf(model, data, readShard, data.counts.train), mostBuckets, training.batch);
}

/** The buckets of all rows that are to be predicted; null where padding is a part of what the model reads. */
export async function predictedBuckets(
  model: ResolvedModel,
  data: PreparedData,
  readShard: ReadShard,
): Promise<Buckets | null> {
  const rows = data.shardStarts.at(-1) ?? 0;
  if (rows === 0 || !readsOneText(model)) return null;
  const most = Math.min(mostPredicted, Math.ceil(rows / largestPredictBatch));
  return bucketsFor(await tokensOf(model, data, readShard, rows), most);
}

/** Tokens of the first `rows` rows. */
async function tokensOf(
  model: ResolvedModel,
  { shardStarts, width }: PreparedData,
  readShard: ReadShard,
  rows: number,
): Promise<Uint32Array> {
  const length = lengthOf(model);
  const column = width - length;
  const tokens = new Uint32Array(rows);
  for (let shard = 0; shard + 1 < shardStarts.length && shardStarts[shard] < rows; shard++) {
    const { x } = await readShard(shard);
    const end = Math.min(shardStarts[shard + 1], rows);
    for (let row = shardStarts[shard]; row < end; row++) {
      const start = (row - shardStarts[shard]) * width + column;
      let last = length;
      while (last > 0 && x[start + last - 1] === 0) last--;
      tokens[row] = last;
    }
  }
  return tokens;
}

/** Buckets of rows with so many tokens each, dealt to batches of `batch`: as few as keep padding small. */
export function bucketsFor(tokens: Uint32Array, most = mostBuckets, batch = 1): Buckets {
  const lengths = bucketLengths(tokens, most, batch);
  const of = Uint8Array.from(tokens, (count) => lengths.findIndex((length) => count <= length));
  return { lengths, of, tokens: tokens.reduce((sum, count) => sum + count, 0) };
}

/**
 * Ends of the buckets, ascending, the last the longest row: of all choices with so many buckets the one with the fewest positions, by
 * dynamic programming over the different lengths; the fewest buckets whose padding is small, or as many as there may be. Up to an end as many
 * rows are dealt as make whole batches (`deal`): the others go to longer ones, which a short table notices.
 */
function bucketLengths(tokens: Uint32Array, most: number, batch: number): readonly number[] {
  const longest = Math.max(
    1,
    tokens.reduce((most, count) => Math.max(most, count), 0),
  );
  const stride = Math.ceil(longest / mostEnds);
  const ends = Array.from({ length: Math.ceil(longest / stride) }, (_, i) => Math.min(longest, (i + 1) * stride));
  // Rows that are no longer than each end.
  const rows = new Float64Array(ends.length);
  let sum = 0;
  for (const count of tokens) {
    rows[Math.max(0, Math.ceil(count / stride) - 1)]++;
    sum += count;
  }
  for (let i = 1; i < ends.length; i++) rows[i] += rows[i - 1];
  for (let i = 0; i + 1 < ends.length; i++) rows[i] -= rows[i] % batch;
  const enough = sum / (1 - littlePadding);
  // Positions of all rows up to each end, in the best buckets of which the last ends there; where the one before it ends.
  let positions = Float64Array.from(ends, (end, i) => end * rows[i]);
  const before: Int32Array[] = [new Int32Array(ends.length).fill(-1)];
  while (positions[ends.length - 1] > enough && before.length < Math.min(most, ends.length)) {
    const next = Float64Array.from(ends, (end, i) => end * rows[i]);
    const cuts = new Int32Array(ends.length).fill(-1);
    for (let i = 0; i < ends.length; i++) {
      for (let j = 0; j < i; j++) {
        const all = positions[j] + ends[i] * (rows[i] - rows[j]);
        if (all < next[i]) [next[i], cuts[i]] = [all, j];
      }
    }
    positions = next;
    before.push(cuts);
  }
  const chosen: number[] = [];
  for (let i = ends.length - 1, bucket = before.length - 1; i >= 0; i = before[bucket--][i]) chosen.unshift(ends[i]);
  return chosen;
}

/**
 * Deals rows to batches of one bucket each, in place: rows keep their order within a bucket, and those that make no whole batch there go to
 * the front of the next longer one. Whole batches are shuffled; what remains at the end stands last.
 */
export function deal(
  rows: Uint32Array,
  { buckets, batch }: Dealing,
  { seed, stream, epoch }: { readonly seed: number; readonly stream: number; readonly epoch: number },
): void {
  const queues = buckets.lengths.map((): number[] => []);
  for (const row of rows) queues[buckets.of[row]].push(row);
  const batches: number[][] = [];
  let rest: number[] = [];
  for (const queue of queues) {
    const all = [...rest, ...queue];
    const whole = Math.floor(all.length / batch) * batch;
    for (let from = 0; from < whole; from += batch) batches.push(all.slice(from, from + batch));
    rest = all.slice(whole);
  }
  const order = Uint32Array.from(batches.keys());
  shuffle(order, seed, stream, epoch);
  order.forEach((number, place) => rows.set(batches[number], place * batch));
  rows.set(rest, batches.length * batch);
}

/** The longest bucket among rows. */
export const longestOf = ({ of }: Buckets, rows: Uint32Array): number =>
  rows.reduce((most, row) => Math.max(most, of[row]), 0);

/** Share of the positions of an epoch that are padding, where whole batches are of one bucket and the last rows are as long as any. */
export function paddingOf({ buckets, batch }: Dealing, rows: Uint32Array, longest: number): number {
  const whole = Math.floor(rows.length / batch) * batch;
  let positions = (rows.length - whole) * longest;
  for (let from = 0; from < whole; from += batch) {
    positions += batch * buckets.lengths[longestOf(buckets, rows.subarray(from, from + batch))];
  }
  return 1 - buckets.tokens / positions;
}
