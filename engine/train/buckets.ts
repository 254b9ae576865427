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
/** Share above which a batch is made of parts, each of a bucket: a short table has too few batches to have one of each length. */
const muchPadding = 0.1;
/** Rows of such a part at least. */
const leastPart = 4;
/** Operations of a batch for each parameter, below which adding up gradients takes longer than reading padding: bags of words. */
const leastWork = 100;
/** Different lengths that are looked at as ends of buckets, at most. */
const mostEnds = 256;

export interface Buckets {
  /** Tokens of the longest row of each bucket, ascending. */
  readonly lengths: readonly number[];
  /** The bucket of each row. */
  readonly of: Uint8Array;
  /** Tokens of all rows. */
  readonly tokens: number;
  /** Parts of a batch, alike in size, each of rows of one bucket; their gradients are added up. */
  readonly parts: number;
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
  const tokens = await tokensOf(model, data, readShard, data.counts.train);
  return bucketsFor(tokens, mostBuckets, training.batch, isPartable(model, training.batch));
}

/** Whether shorter parts of a batch save more time than it takes to add up their gradients. */
function isPartable({ layers, parameters }: ResolvedModel, batch: number): boolean {
  const work = layers.reduce(
    (sum, { def, inputShapes, outputShape, args }) => sum + def.flops(inputShapes, outputShape, args),
    0,
  );
  const numbers = parameters.reduce((sum, { shape }) => sum + shape.reduce((product, side) => product * side, 1), 0);
  return batch * work >= leastWork * numbers;
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

/** Buckets of rows with so many tokens each, dealt to batches of `batch`: as few as keep padding small, and batches in as few parts, where `partable`. */
export function bucketsFor(tokens: Uint32Array, most = mostBuckets, batch = 1, partable = true): Buckets {
  const sum = tokens.reduce((all, count) => all + count, 0);
  let [parts, best] = [1, bucketLengths(tokens, most, batch)];
  for (let more = 2; partable && 1 - sum / best.positions >= muchPadding; more *= 2) {
    // Parts are alike in size: of a batch of 50 there are 2, 5 or 10.
    while (batch % more !== 0 && batch / more >= leastPart) more++;
    const rows = batch / more;
    if (rows < leastPart) break;
    const finer = bucketLengths(tokens, most, rows);
    if (finer.positions < best.positions) [parts, best] = [more, finer];
  }
  const { lengths } = best;
  const of = Uint8Array.from(tokens, (count) => lengths.findIndex((length) => count <= length));
  return { lengths, of, tokens: sum, parts };
}

/**
 * Ends of the buckets, ascending, the last the longest row: of all choices with so many buckets the one with the fewest positions, by
 * dynamic programming over the different lengths; the fewest buckets whose padding is small, or as many as there may be. Up to an end as many
 * rows are dealt as make whole parts of `part` rows (`deal`): the others go to longer ones, which a short table notices.
 */
function bucketLengths(
  tokens: Uint32Array,
  most: number,
  part: number,
): { readonly lengths: readonly number[]; readonly positions: number } {
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
  for (let i = 0; i + 1 < ends.length; i++) rows[i] -= rows[i] % part;
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
  const lengths: number[] = [];
  for (let i = ends.length - 1, bucket = before.length - 1; i >= 0; i = before[bucket--][i]) lengths.unshift(ends[i]);
  return { lengths, positions: positions[ends.length - 1] };
}

/**
 * Deals rows to batches, or parts of them, of one bucket each, in place: rows keep their order within a bucket, and those that make no whole
 * one there go to the front of the next longer bucket. Whole ones are shuffled; what remains at the end stands last.
 */
export function deal(
  rows: Uint32Array,
  { buckets, batch }: Dealing,
  { seed, stream, epoch }: { readonly seed: number; readonly stream: number; readonly epoch: number },
): void {
  const queues = buckets.lengths.map((): number[] => []);
  for (const row of rows) queues[buckets.of[row]].push(row);
  const size = batch / buckets.parts;
  const dealt: number[][] = [];
  let rest: number[] = [];
  for (const queue of queues) {
    const all = [...rest, ...queue];
    const whole = all.length - (all.length % size);
    for (let from = 0; from < whole; from += size) dealt.push(all.slice(from, from + size));
    rest = all.slice(whole);
  }
  const order = Uint32Array.from(dealt.keys());
  shuffle(order, seed, stream, epoch);
  order.forEach((number, place) => rows.set(dealt[number], place * size));
  rows.set(rest, dealt.length * size);
}

/** The longest bucket among rows. */
export const longestOf = ({ of }: Buckets, rows: Uint32Array): number =>
  rows.reduce((most, row) => Math.max(most, of[row]), 0);

/** Share of the positions of an epoch that are padding, where what is dealt is of one bucket and the last rows are as long as any. */
export function paddingOf({ buckets, batch }: Dealing, rows: Uint32Array, longest: number): number {
  const size = batch / buckets.parts;
  const whole = rows.length - (rows.length % size);
  let positions = (rows.length - whole) * longest;
  for (let from = 0; from < whole; from += size) {
    positions += size * buckets.lengths[longestOf(buckets, rows.subarray(from, from + size))];
  }
  return 1 - buckets.tokens / positions;
}
