// What a session settles on before its plan is compiled: the rows of its programs, the parts of a batch, the weights of classes.

import type { ResolvedModel } from '../model/resolve.ts';
import { shortenedModel } from '../model/shortened.ts';
import { predictsTokens, type TrainingSpec } from '../model/spec.ts';
import type { PlanOptions } from '../plan/compile.ts';
import { partsOf, rowsByShares } from '../plan/parts.ts';
import type { PreparedData } from '../protocol/data.ts';
import { TrainyardError } from '../protocol/errors.ts';

const largestStepCapacity = 512;
/** Steps of predictions that one submit holds. */
export const predictSteps = 8;
export const largestPredictBatch = 256;
/** Floating-point operations of one step of predictions on images: some 50 ms on a CPU, so that pause and stop answer. */
const predictFlops = 4e9;

/** Sizes a session has settled on. */
export interface SessionSizes {
  readonly batch: number;
  /** Parts of a batch at least, for want of memory. */
  readonly accumulate: number;
  /** Rows that are resident at most. */
  readonly capacity: number;
  /** Rows of a full batch for each of several devices; absent: it is not shared. */
  readonly shares?: readonly number[];
  /** Cuts a step of so many rows into parts, where steps are in parts. */
  readonly parts: ((rows: number) => readonly number[]) | undefined;
  /** Whose part each is, where several devices share a batch. */
  readonly devices?: (rows: number) => readonly number[];
  /** Of a language model: rows of the programs that tell the loss at every position. */
  readonly evaluateBatches?: readonly number[];
}

/** What the plan of a session depends on. */
export interface SessionShape {
  readonly model: ResolvedModel;
  readonly training: TrainingSpec;
  readonly data: Pick<PreparedData, 'counts' | 'output' | 'width' | 'targets'>;
  /** Rows that are resident. */
  readonly capacity: number;
  readonly accumulate: number;
  /** Rows of a full batch for each of several devices; absent: there is one. */
  readonly shares?: readonly number[];
  /** The device can store activations in 16 bits. */
  readonly halfStorage?: boolean;
  readonly predictOnly?: boolean;
  /** Tokens of the rows of each bucket, and parts of a batch that are each of one: see buckets.ts. Absent: rows are in none. */
  readonly buckets?: { readonly lengths: readonly number[]; readonly parts: number };
}

/** Rows a device can hold within `budget` bytes, a multiple of `batch` when not all of them fit. */
export function rowsResident(
  rows: number,
  { input, width, targets }: Pick<PreparedData, 'input' | 'width' | 'targets'>,
  budget: number,
  batch: number,
): number {
  const valueBytes = input.kind === 'image' ? 1 : 4;
  const affordable = Math.floor(budget / (valueBytes * width + 4 * targets));
  if (rows <= affordable) return Math.max(1, rows);
  return Math.max(batch, Math.floor(affordable / batch) * batch);
}

/** What a session has compiled, and how it cuts its steps: forecasts of memory plan the same. */
export function planOptions(shape: SessionShape): {
  readonly options: PlanOptions;
  readonly parts: SessionSizes['parts'];
  readonly devices: SessionSizes['devices'];
  readonly shares: SessionSizes['shares'];
} {
  const { model, training, data, capacity, accumulate, predictOnly = false, buckets } = shape;
  const { counts } = data;
  const batch = Math.min(training.batch, Math.max(1, counts.train));
  const halfStorage = shape.halfStorage === true && training.precision === 'mixed16' && !predictOnly;
  const statistics = usesBatchStatistics(model);
  const dealt = predictOnly ? 1 : (buckets?.parts ?? 1);
  const shares = shape.shares && !predictOnly ? sharesWithFirst(shape.shares, statistics) : undefined;
  const shared = shares && partsOfShares(shares, accumulate, statistics);
  const parts = shared
    ? (rows: number) => shared(rows).map(([size]) => size)
    : accumulate > 1 || dealt > 1
      ? partsOfBatches(batch, accumulate, statistics, dealt)
      : undefined;
  const devices = shared && ((rows: number) => shared(rows).map(([, device]) => device));
  const tableRows = parts ? parts(batch).length : 1;
  const stepRows = Math.min(largestStepCapacity, Math.ceil(counts.train / batch) * tableRows);
  const largestSplit = Math.max(counts.train, counts.validation, counts.test, 1);
  const trained = parts ? Math.max(...parts(batch)) : training.batch;
  const options: PlanOptions = {
    model,
    output: data.output,
    training,
    // A language model that writes while it learns has a row to itself.
    data: { rows: capacity + Number(predictsTokens(model.input)), width: data.width, targets: data.targets },
    stepCapacity: Math.max(predictSteps, tableRows, stepRows),
    predictSteps,
    trainBatches: predictOnly ? [] : trainBatches(counts.train, batch, statistics),
    ...(buckets && !predictOnly ? { trainLengths: buckets.lengths.filter((length) => length < lengthOf(model)) } : {}),
    ...(buckets && predictOnly ? { predictLengths: buckets.lengths } : {}),
    parts: predictOnly ? undefined : parts,
    ...(devices ? { devices } : {}),
    halfStorage,
    // Where memory is short, or what predictions need is not shared with the training.
    predictBatch: predictBatch(
      model,
      trained,
      largestSplit,
      shared !== undefined || accumulate > 1 || training.checkpointing || halfStorage,
    ),
    ...(predictsTokens(model.input) && !predictOnly
      ? { evaluateBatches: [...new Set([Math.min(trained, largestSplit), 1])] }
      : {}),
  };
  return { options, parts, devices, shares };
}

/** Tokens a row at most, of a single text. */
export const lengthOf = ({ input }: ResolvedModel): number =>
  input.kind === 'table' ? (input.texts?.[0]?.length ?? 0) : 0;

/**
 * Whether the training rows of a run are put into buckets: asked for, a single text, rows for more than one batch. Not those of a language
 * model, whose rows are full, of statistics of a batch, which count padding, or of a model that looks at padding itself.
 */
export function isBucketed(
  model: ResolvedModel,
  rows: number,
  training: Pick<TrainingSpec, 'bucketing' | 'batch'>,
): boolean {
  if (training.bucketing !== true || rows <= training.batch) return false;
  return readsOneText(model) && !usesBatchStatistics(model);
}

/** Whether a row of a model may be read without the padding behind its only text: what is no sequence has one size for any length. */
export function readsOneText(model: ResolvedModel): boolean {
  const { input } = model;
  if (input.kind !== 'table' || input.texts?.length !== 1 || predictsTokens(input)) return false;
  const [{ length }] = input.texts;
  if (length < 2) return false;
  const shorter = shortenedModel(model, length - 1);
  return model.layers.every(
    ({ positions, outputShape }, i) =>
      positions !== null || outputShape.every((size, axis) => size === shorter.layers[i].outputShape[axis]),
  );
}

/**
 * Parts of any step, no larger than those of a batch in `accumulate` parts. A part of one row has no statistics. `dealt`: parts of a batch
 * that are of one bucket each, over whose ends none reaches.
 */
export function partsOfBatches(
  batch: number,
  accumulate: number,
  statistics: boolean,
  dealt = 1,
): (rows: number) => readonly number[] {
  const least = statistics ? 2 : 1;
  const largest = Math.max(least, Math.ceil(batch / accumulate));
  const whole = batch / dealt;
  return (rows) =>
    Array.from({ length: Math.ceil(rows / whole) }, (_, i) => Math.min(whole, rows - i * whole)).flatMap((size) =>
      partsOf(size, largest, least),
    );
}

/** The first device has a share where batches have statistics: the running ones, by which predictions are made, are its own. */
export function sharesWithFirst(shares: readonly number[], statistics: boolean): readonly number[] {
  const [first] = shares;
  if (!statistics || first >= 2) return shares;
  const whole = shares.reduce((sum, rows) => sum + rows, 0);
  const largest = shares.indexOf(Math.max(...shares));
  const given = Math.max(2, Math.round(whole / 32)) - first;
  return shares.map((rows, i) => (i === 0 ? rows + given : i === largest ? rows - given : rows));
}

/** Parts of any step as pairs of rows and device: each device's share in parts, no larger than those of its share of a batch in `accumulate`. */
export function partsOfShares(
  shares: readonly number[],
  accumulate: number,
  statistics: boolean,
): (rows: number) => readonly (readonly [size: number, device: number])[] {
  const least = statistics ? 2 : 1;
  const largest = Math.max(least, Math.ceil(Math.max(...shares) / accumulate));
  return (rows) =>
    rowsByShares(rows, shares, least).flatMap((share, device) =>
      share === 0 ? [] : partsOf(share, largest, least).map((size) => [size, device] as const),
    );
}

export const isOutOfMemory = (error: unknown): error is TrainyardError =>
  error instanceof TrainyardError && (error.code === 'device.out_of_memory' || error.code === 'device.limit');

/** [channels, 2]: mean and deviation of each. */
export function normalizationOf({ normalization }: PreparedData, channels: number): Float32Array {
  const pair = (channel: number): readonly number[] =>
    normalization ? [normalization.mean[channel], normalization.deviation[channel]] : [0, 1];
  return Float32Array.from(Array.from({ length: channels }, (_, channel) => pair(channel)).flat());
}

/**
 * Rows of a step of predictions: on images no more than keep a submit short and than the training's memory holds; `trained`: rows
 * a program of the training takes, of which there are no more anywhere where memory is `short`.
 */
export function predictBatch(model: ResolvedModel, trained: number, rows: number, short: boolean): number {
  const largest = short ? Math.min(largestPredictBatch, trained) : largestPredictBatch;
  // Of a language model what follows is asked of one text at a time.
  if (predictsTokens(model.input)) return 1;
  if (model.input.kind === 'table') return Math.min(largest, rows);
  const flops = model.layers.reduce((sum, { def, inputShapes, outputShape, args }) => {
    return sum + def.flops(inputShapes, outputShape, args);
  }, 0);
  const affordable = Math.max(1, Math.floor(predictFlops / Math.max(1, flops)));
  return Math.min(largest, trained, affordable, rows);
}

/** Statistics of a batch of one row do not exist: such a remainder is left out. */
export function usesBatchStatistics(model: ResolvedModel): boolean {
  return model.layers.some((layer) => layer.def.type === 'batch_norm');
}

export function trainBatches(rows: number, batch: number, batchStatistics: boolean): readonly number[] {
  const remainder = rows % batch;
  return remainder === 0 || (remainder === 1 && batchStatistics) ? [batch] : [batch, remainder];
}

/** `balanced`: rows / (classes · rows of the class), so that the weights' mean over the rows is 1. */
export function classWeights(
  training: Pick<TrainingSpec, 'classWeights'>,
  counts: readonly number[],
  outputs: number,
): Float32Array | null {
  if (training.classWeights === 'none' || counts.length === 0) return null;
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const present = counts.filter((count) => count > 0).length;
  const weights = new Float32Array(Math.max(2, outputs));
  counts.forEach((count, k) => (weights[k] = count > 0 ? rows / (present * count) : 0));
  return weights;
}
