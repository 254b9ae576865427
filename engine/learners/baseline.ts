// What any model has to beat, on the very rows of the run: a linear model, where it is fitted by little work, and the answer that is
// always the same. Both are scored as the run's own weights are. Work is counted, not timed: what a run has to beat does not depend on
// what else the machine does.

import type { PreparedData, SplitName } from '../protocol/data.ts';
import { predictsTokens } from '../model/spec.ts';
import type { Baseline, Metrics } from '../protocol/runs.ts';
import type { Surroundings } from '../train/control.ts';
import { evaluate, type EvaluationSpec } from '../train/metrics.ts';
import { ofSplit, splitRange } from '../train/scores.ts';
import { sliceMilliseconds } from './course.ts';
import { declaration as linearModel, gridOf } from './linear/declaration.ts';
import type { Rows } from './learner.ts';
import { plainLoss } from './scoring.ts';
import { designBytes, readDesign, type Design } from './linear/design.ts';
import { outputsFor } from './linear/outputs.ts';
import {
  constantWeights,
  penaltyOf,
  searchPenalty,
  type LinearWeights,
  type PathProblem,
  type Search,
} from './linear/path.ts';
import type { Terms } from './linear/terms.ts';

/** Larger rows could not be fitted by so little work. */
const mostBytes = 2 ** 27;
/** Bytes of rows that are read for it at most: about a second. */
const mostRead = 2 ** 30;
/** Tokens whose words are counted for it at most, padding included: about as long. */
const mostTokens = 2 ** 21;

export interface BaselineOptions extends Pick<Rows, 'data' | 'readShard'> {
  readonly learner: string;
  readonly surroundings: Pick<Surroundings, 'clock' | 'breathe'>;
  /** Multiplications that fitting the linear model may take. */
  readonly work: number;
  /** Milliseconds after which there is no time for it: the run has to be done by then. Infinity: it takes what it takes. */
  readonly within: number;
  /** Given the weights of the linear model that was fitted, and what texts were counted by. */
  readonly onLinear?: (weights: LinearWeights, terms: readonly Terms[]) => void;
}

/** Null where the rows that were not trained on are too many to be read for it, or there is no time. */
export async function baselineOf(options: BaselineOptions): Promise<Baseline | null> {
  const { data, learner, surroundings, work, within } = options;
  const end = surroundings.clock() + within;
  // A language model is judged by bits per byte alone.
  if (predictsTokens(data.input)) return null;
  // Of columns as they are a linear model makes nothing.
  const design = data.input.kind === 'columns' ? null : await readWithin(options, end);
  if (design === null) return constantAlone(options);
  const { counts, output } = data;
  const problem: PathProblem = {
    design,
    train: counts.train,
    validation: counts.validation,
    output,
    classWeights: null,
    penalty: 0,
  };
  const constant = constantWeights(problem);
  const scored = (weights: LinearWeights): Metrics => metricsOf(options, design, weights);
  const answer =
    output.kind === 'classes' ? likeliestClass(data.classCounts, output.classes) : meanOf(constant, output);
  const linear = learner === linearModel.name ? null : await fitWithin(problem, constant, surroundings, { work, end });
  if (linear) options.onLinear?.(linear.weights, design.terms ?? []);
  return {
    constant: { answer, metrics: scored(constant) },
    linear: linear && { penalty: linear.penalty, metrics: scored(linear.weights) },
  };
}

/** Of rows that are too many to be fitted: their targets alone, of the splits that were not trained on, if there are any. */
async function constantAlone(options: BaselineOptions): Promise<Baseline | null> {
  const { data, readShard, surroundings, within } = options;
  const { counts, output, classCounts, shardStarts } = data;
  const end = surroundings.clock() + within;
  const rows = shardStarts[shardStarts.length - 1];
  const targets = new Float32Array(rows);
  const others = rows > counts.train;
  if (bytesToRead(data, others ? rows - counts.train : rows) > mostRead) return null;
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    if (others && shardStarts[shard + 1] <= counts.train) continue;
    if (surroundings.clock() > end) return null;
    targets.set(
      (await readShard(shard)).y.subarray(0, shardStarts[shard + 1] - shardStarts[shard]),
      shardStarts[shard],
    );
    await surroundings.breathe();
  }
  const logits = classCounts.map((count) => Math.log(Math.max(count, 0.5)));
  // Numbers are standardised by the training rows: their mean is 0.
  const bias = output.kind === 'value' ? [0] : logits.length === 2 ? [logits[1] - logits[0]] : logits;
  const weights = { weight: new Float32Array(0), bias: Float32Array.from(bias) };
  const nothing: Design = {
    ...{ rows, dense: 0, width: 0, categories: 0, targets },
    ...{ x: new Float32Array(0), ones: new Uint32Array(0) },
  };
  const answer = output.kind === 'classes' ? likeliestClass(classCounts, output.classes) : meanOf(weights, output);
  const metrics = metricsOf(options, nothing, weights, others ? ['validation', 'test'] : ['train']);
  return { constant: { answer, metrics }, linear: null };
}

const bytesToRead = ({ width }: Pick<PreparedData, 'width'>, rows: number): number => 4 * width * rows;

class TooLate extends Error {}

async function readWithin({ data, readShard, surroundings }: BaselineOptions, end: number): Promise<Design | null> {
  const grid = gridOf(data.input);
  const rows = data.shardStarts[data.shardStarts.length - 1];
  const { texts = [] } = data.input.kind === 'table' ? data.input : {};
  const tokens = rows * texts.reduce((sum, { length }) => sum + length, 0);
  if (designBytes(data, grid) > mostBytes || bytesToRead(data, rows) > mostRead || tokens > mostTokens) return null;
  const pause = async (): Promise<void> => {
    if (surroundings.clock() > end) throw new TooLate();
    await surroundings.breathe();
  };
  try {
    return await readDesign({ data, readShard, dataBudget: mostBytes }, grid, pause);
  } catch (error) {
    if (error instanceof TooLate) return null;
    throw error;
  }
}

/** The best of the penalties that there was work for; null if there was none. */
async function fitWithin(
  problem: PathProblem,
  start: LinearWeights,
  { clock, breathe }: BaselineOptions['surroundings'],
  most: { readonly work: number; readonly end: number },
): Promise<{ readonly penalty: number; readonly weights: LinearWeights } | null> {
  const search: Search = { tried: [], best: start, chosen: -1 };
  const fitting = searchPenalty(problem, search);
  let multiplications = 0;
  for (let going = true; going && clock() < most.end; await breathe()) {
    const until = clock() + sliceMilliseconds;
    do {
      const next = fitting.next();
      if (!next.done) multiplications += next.value;
      going = !next.done && multiplications < most.work;
    } while (going && clock() < until);
  }
  if (search.chosen < 0) return null;
  return { penalty: penaltyOf(search.tried[search.chosen], 0), weights: search.best };
}

function metricsOf(
  { data }: Pick<BaselineOptions, 'data'>,
  design: Design,
  weights: LinearWeights,
  splits: readonly SplitName[] = ['train', 'validation', 'test'],
): Metrics {
  let metrics: Metrics = {};
  const spec: EvaluationSpec = { output: data.output, training: plainLoss, weights: null };
  for (const split of splits) {
    const { start, end } = splitRange(data, split);
    if (start === end) continue;
    const { metrics: values } = evaluate(
      outputsFor(design, start, end, weights),
      design.targets.subarray(start, end),
      spec,
    );
    metrics = { ...metrics, ...ofSplit(split, values) };
  }
  return metrics;
}

function likeliestClass(counts: readonly number[], classes: readonly string[]): string {
  return classes[counts.indexOf(Math.max(...counts))];
}

const meanOf = (
  { bias }: LinearWeights,
  { offset, scale }: { readonly offset: number; readonly scale: number },
): number => bias[0] * scale + offset;
