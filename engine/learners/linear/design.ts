// The rows of a linear model: numbers as they were prepared, categories as places of the one 1 in their columns, pictures as
// averages of their squares, texts as counted words. N rows, P columns, of which the first D are dense; K outputs.

import type { InputSpec } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import type { PreparedData, Shard } from '../../protocol/data.ts';
import { columnsOf, outputsOf } from './declaration.ts';
import { addDenseScores, addDenseTransposed } from './dense.ts';
import { addEntries, addEntryScores, squaresOf, type SparseRows } from './sparse.ts';
import { fitTerms, termRows, type Terms } from './terms.ts';
import type { Rows } from '../learner.ts';

export interface Design {
  readonly rows: number;
  /** D */
  readonly dense: number;
  /** P */
  readonly width: number;
  /** [N, D] */
  readonly x: Float32Array;
  /** [N, categories]: the column of the 1. */
  readonly ones: Uint32Array;
  readonly categories: number;
  /** What texts become, behind all other columns. Absent: there are none. */
  readonly counted?: SparseRows;
  /** What they were counted by. */
  readonly terms?: readonly Terms[];
  /** [N]; NaN where there is none. */
  readonly targets: Float32Array;
}

/** An entry of counted words takes as long as so many numbers that stand in a row: its column's weight may be anywhere. */
const scattered = 4;

/** Numbers that a row of a design takes, on average. */
export function entriesOf({ rows, dense, categories, counted }: Design): number {
  return dense + categories + scattered * Math.ceil((counted?.values.length ?? 0) / Math.max(1, rows));
}

/** Bytes that the rows of a design take. */
export function designBytes({ input, shardStarts }: Pick<PreparedData, 'input' | 'shardStarts'>, grid: number): number {
  const values = input.kind === 'table' ? input.width : columnsOf(input, grid);
  return 4 * (values + 1) * shardStarts[shardStarts.length - 1];
}

/**
 * Reads all rows, calling `pause` between shards. `known`: the terms that texts are counted by; absent: they are found in those of the training
 * split. Throws InputError `model.memory` if they do not fit the budget.
 */
export async function readDesign(
  { data, readShard, dataBudget }: Pick<Rows, 'data' | 'readShard' | 'dataBudget'>,
  grid: number,
  pause: () => Promise<void>,
  known?: readonly Terms[],
): Promise<Design> {
  const bytes = designBytes(data, grid);
  if (bytes > dataBudget) {
    const [needed, there] = [bytes, dataBudget].map((size) => `${(size / 1e9).toFixed(1)} GB`);
    throw new InputError(
      'model.memory',
      `A linear model holds all rows in memory: ${needed}, and ${there} may be used.`,
      'Train a network, which reads them window by window, or leave columns or rows out.',
    );
  }
  const { input, shardStarts } = data;
  const rows = shardStarts[shardStarts.length - 1];
  const dense = input.kind === 'table' ? input.numeric : columnsOf(input, grid);
  const categories = input.kind === 'table' ? input.embeddings.length : 0;
  const design: Design = {
    rows,
    dense,
    width: columnsOf(input, grid),
    x: new Float32Array(rows * dense),
    ones: new Uint32Array(rows * categories),
    categories,
    targets: new Float32Array(rows),
  };
  const texts = input.kind === 'table' ? (input.texts ?? []) : [];
  const codes = texts.map((): Uint32Array[] => []);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const first = shardStarts[shard];
    const count = shardStarts[shard + 1] - first;
    const read = await readShard(shard);
    design.targets.set(read.y.subarray(0, count), first);
    if (input.kind === 'table') {
      takeRows(design, input, read, first, count);
      takeTexts(codes, input, read, count);
    } else takePictures(design, data, grid, read, first, count);
    await pause();
  }
  if (texts.length === 0) return design;
  const outputs = outputsOf(data.output);
  const terms = known ?? codes.map((own) => fitTerms(own, data.counts.train, outputs));
  await pause();
  const counted = termRows(rows, codes, terms, design.width);
  return { ...design, width: design.width + termCount(terms), counted, terms };
}

export const termCount = (terms: readonly Terms[]): number =>
  terms.reduce((sum, { weights }) => sum + weights.length, 0);

/** Adds the codes of each text, up to the padding. */
function takeTexts(
  codes: readonly Uint32Array[][],
  { numeric, embeddings, width, texts = [] }: Extract<InputSpec, { kind: 'table' }>,
  { x }: Shard,
  count: number,
): void {
  let at = numeric + embeddings.length;
  texts.forEach(({ length }, text) => {
    for (let row = 0; row < count; row++) {
      const own = x.subarray(row * width + at, row * width + at + length);
      const end = own.indexOf(0);
      codes[text].push(Uint32Array.from(end < 0 ? own : own.subarray(0, end)));
    }
    at += length;
  });
}

function takeRows(
  { x, ones, dense, categories }: Design,
  { width, embeddings }: Extract<InputSpec, { kind: 'table' }>,
  shard: Shard,
  first: number,
  count: number,
): void {
  const starts: number[] = [];
  for (let next = dense, i = 0; i < categories; next += embeddings[i++].vocabulary) starts.push(next);
  for (let row = 0; row < count; row++) {
    const from = row * width;
    for (let i = 0; i < dense; i++) x[(first + row) * dense + i] = shard.x[from + i];
    for (let i = 0; i < categories; i++) ones[(first + row) * categories + i] = starts[i] + shard.x[from + dense + i];
  }
}

/** Each square's mean, normalised as the channel is. */
function takePictures(
  { x, dense }: Design,
  { input, normalization }: PreparedData,
  grid: number,
  shard: Shard,
  first: number,
  count: number,
): void {
  if (input.kind !== 'image') return;
  const { channels, height, width } = input;
  const edge = (square: number, size: number): number => Math.floor((square * size) / grid);
  for (let row = 0; row < count; row++) {
    for (let channel = 0; channel < channels; channel++) {
      const plane = (row * channels + channel) * height * width;
      const [mean, deviation] = normalization
        ? [normalization.mean[channel], normalization.deviation[channel]]
        : [0, 1];
      for (let square = 0; square < grid * grid; square++) {
        const [v, h] = [Math.floor(square / grid), square % grid];
        const [top, bottom, left, right] = [edge(v, height), edge(v + 1, height), edge(h, width), edge(h + 1, width)];
        let sum = 0;
        for (let r = top; r < bottom; r++) for (let c = left; c < right; c++) sum += shard.x[plane + r * width + c];
        const value = sum / ((bottom - top) * (right - left)) / 255;
        x[(first + row) * dense + channel * grid * grid + square] = (value - mean) / deviation;
      }
    }
  }
}

/** Scores [to − from, K] of rows: X·W + b, with W [P, K] and b [K]. */
export function scoresOf(
  { x, ones, dense, categories, counted }: Design,
  from: number,
  to: number,
  weight: ArrayLike<number>,
  bias: ArrayLike<number>,
  scores: Float64Array,
): void {
  const K = bias.length;
  for (let row = from; row < to; row++) {
    const at = (row - from) * K;
    for (let k = 0; k < K; k++) scores[at + k] = bias[k];
    if (K === 1) {
      let sum = 0;
      for (let i = 0, place = row * dense; i < dense; i++, place++) sum += x[place] * weight[i];
      scores[at] += sum;
    } else addDenseScores(x, row * dense, dense, weight, K, scores, at);
    for (let i = 0; i < categories; i++) {
      const column = ones[row * categories + i] * K;
      for (let k = 0; k < K; k++) scores[at + k] += weight[column + k];
    }
    if (counted) addEntryScores(counted, row, weight, K, scores, at);
  }
}

/** Adds Xᵀ·R to `sum` [P, K], R [to − from, K] of these rows. */
export function addTransposed(
  { x, ones, dense, categories, counted }: Design,
  from: number,
  to: number,
  residuals: Float64Array,
  K: number,
  sum: Float64Array,
): void {
  if (K > 1) addDenseTransposed(x, from * dense, to - from, dense, residuals, K, sum);
  for (let row = from; row < to; row++) {
    const at = (row - from) * K;
    if (K === 1) {
      const residual = residuals[at];
      for (let i = 0, place = row * dense; i < dense; i++, place++) sum[i] += x[place] * residual;
    }
    for (let i = 0; i < categories; i++) {
      const column = ones[row * categories + i] * K;
      for (let k = 0; k < K; k++) sum[column + k] += residuals[at + k];
    }
    if (counted) addEntries(counted, row, residuals, at, K, sum);
  }
}

/** Adds the columns' squares instead: (X∘X)ᵀ·R. */
export function addSquares(
  { x, ones, dense, categories, counted }: Design,
  from: number,
  to: number,
  shares: Float64Array,
  K: number,
  sum: Float64Array,
): void {
  const squared = counted && squaresOf(counted);
  for (let row = from; row < to; row++) {
    const at = (row - from) * K;
    for (let i = 0, column = 0; i < dense; i++, column += K) {
      const square = x[row * dense + i] ** 2;
      for (let k = 0; k < K; k++) sum[column + k] += square * shares[at + k];
    }
    for (let i = 0; i < categories; i++) {
      const column = ones[row * categories + i] * K;
      for (let k = 0; k < K; k++) sum[column + k] += shares[at + k];
    }
    if (squared) addEntries(squared, row, shares, at, K, sum);
  }
}

/** Writes a row as a dense vector [P], followed by a 1 where there is room for one. */
export function denseRow({ x, ones, dense, categories, width, counted }: Design, row: number, out: Float64Array): void {
  for (let i = 0; i < dense; i++) out[i] = x[row * dense + i];
  out.fill(0, dense, width);
  for (let i = 0; i < categories; i++) out[ones[row * categories + i]] += 1;
  const [begin, end] = counted ? [counted.starts[row], counted.starts[row + 1]] : [0, 0];
  for (let entry = begin; counted && entry < end; entry++) out[counted.columns[entry]] = counted.values[entry];
  if (out.length > width) out[width] = 1;
}
