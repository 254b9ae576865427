// What each column did for the answer of every row of a file, block by block: there may be more rows than memory. Of trees exactly; of
// others by sampling, each row compared with the same rows of a split of the run. N rows, C columns.

import type { RawColumn } from '../model/spec.ts';
import { CancelledError } from '../protocol/errors.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import type { TableContributions } from '../protocol/explanation.ts';
import { backgroundOf, contributionsOf } from './contributions.ts';
import type { TreeScale } from '../protocol/trees.ts';
import type { Answer, Subject } from './subject.ts';
import { unhurried, type Unhurried } from './unhurried.ts';

/** Ways through the columns of each row where nobody says how many. */
export const usualTableDraws = 256;

/** Rows that are explained before they are handed on. */
const blockRows = 4_096;

/** Whom to ask where there are no trees, and what rows are compared with. */
export interface Sampled {
  readonly subject: Subject;
  readonly answer: Answer;
  readonly draws: number;
}

/** Numbers of some consecutive rows, an array a name. */
type Keep = (columns: readonly Float64Array[]) => Promise<void>;

/** Rows of columns as they are. */
interface FileRows {
  readonly data: PreparedData;
  readonly readShard: (shard: number) => Promise<Shard>;
}

/** What tells contributions exactly: trees. */
interface Exact {
  readonly scale: TreeScale;
  readonly average: number;
  rows(
    values: Float64Array,
    count: number,
  ): Generator<number, { readonly shares: Float64Array; readonly predictions: Float64Array }, void>;
}

interface Block {
  readonly average: number;
  /** [N, C] */
  readonly shares: Float64Array;
  /** [N, C]; null: exact. */
  readonly errors: Float64Array | null;
  /** [N] */
  readonly predictions: Float64Array;
}

/** The expected value, the columns and the prediction; where a column has such a name, ours make way. */
export function contributionNames(columns: readonly RawColumn[]): readonly string[] {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const free = (name: string): string => {
    let own = name;
    for (let number = 2; taken.has(own.toLowerCase()); number++) own = `${name} (${number})`;
    return own;
  };
  return [free('expected'), ...columns.map(({ name }) => name), free('prediction')];
}

/** Stopped, it throws CancelledError. */
export async function explainTable(
  { data, readShard }: FileRows,
  exact: Exact | null,
  sampled: () => Promise<Sampled>,
  wanted: number | null,
  keep: Keep,
  pace: Unhurried,
): Promise<TableContributions> {
  const { input, shardStarts } = data;
  if (input.kind !== 'columns') throw new RangeError('these rows hold no columns as they are');
  const start = pace.clock();
  const C = input.columns.length;
  const total = shardStarts[shardStarts.length - 1];
  const asked = exact ? null : await sampled();
  const [sizes, deviations] = [new Float64Array(C), new Float64Array(C)];
  let [done, average] = [0, exact?.average ?? NaN];
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const { x, rows } = await readShard(shard);
    for (let from = 0; from < rows; from += blockRows) {
      const count = Math.min(blockRows, rows - from);
      const values = Float64Array.from(x.subarray(from * C, (from + count) * C));
      const own: Unhurried = { ...pace, onProgress: (share) => pace.onProgress?.((done + share * count) / total) };
      const block = exact
        ? { average, errors: null, ...(await unhurried(exact.rows(values, count), own)) }
        : await sampleRows(asked as Sampled, values, count, wanted, own);
      ({ average } = block);
      block.shares.forEach((share, i) => (sizes[i % C] += Math.abs(share)));
      block.errors?.forEach((error, i) => (deviations[i % C] += error));
      const column = (at: number): Float64Array =>
        Float64Array.from({ length: count }, (_, row) => block.shares[row * C + at]);
      await keep([
        new Float64Array(count).fill(average),
        ...Array.from({ length: C }, (_, at) => column(at)),
        block.predictions,
      ]);
      done += count;
      await pace.breathe();
      if (pace.stopped?.() === true) throw new CancelledError();
    }
  }
  return {
    ...{ rows: total, columns: input.columns, wanted, scale: exact?.scale ?? null, average },
    ...{ mean: sizes.map((sum) => sum / total), errors: deviations.map((sum) => sum / total) },
    draws: asked?.draws ?? 0,
    background: asked?.subject.truth.length ?? 0,
    seconds: (pace.clock() - start) / 1000,
  };
}

async function sampleRows(
  { subject, answer, draws }: Sampled,
  values: Float64Array,
  count: number,
  wanted: number | null,
  { stopped, onProgress }: Unhurried,
): Promise<Block> {
  const C = subject.columns.length;
  const [shares, errors] = [new Float64Array(count * C), new Float64Array(count * C)];
  const predictions = new Float64Array(count);
  let average = NaN;
  for (let row = 0; row < count; row++) {
    if (stopped?.() === true) throw new CancelledError();
    const asked = { values: values.subarray(row * C, (row + 1) * C), source: row, truth: NaN };
    const why = await contributionsOf(subject, answer, asked, wanted, { draws });
    shares.set(why.shares, row * C);
    errors.set(why.errors, row * C);
    ({ average, prediction: predictions[row] } = why);
    onProgress?.((row + 1) / count);
  }
  return { average, shares, errors, predictions };
}

/** Those of a split that rows are compared with, for so many draws. */
export const sampledFrom = (subject: Subject, answer: Answer, draws: number): Sampled => {
  const background = backgroundOf(subject, draws);
  const B = background.truth.length;
  return { subject: background, answer, draws: 2 * B * Math.ceil(draws / 2 / B) };
};
