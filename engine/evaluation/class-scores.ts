// Scores of a classifier on rows whose class is known, each with its bootstrap interval and beside those of the baselines. N rows, K
// classes; of two classes the second is the one that is looked for.

import type { BaselineRows, ClassRows, Score, ScoreName } from '../protocol/evaluated-rows.ts';
import { binsOf, calibrationBins, calibrationError, type BinnedRows } from './calibration.ts';
import {
  earned,
  mostResampled,
  percentiles,
  resample,
  resampledRows,
  resamples,
  widened,
  wilson,
} from './intervals.ts';
import { areas, rank, type Ranking } from './ranking.ts';

/** The scores of a classifier, in the order in which they are shown. */
export const classScoreNames = [
  'roc_auc',
  'pr_auc',
  'log_loss',
  'brier',
  'ece',
  'balanced_accuracy',
  'accuracy',
  'f1',
] as const satisfies readonly ScoreName[];

type Values = Readonly<Record<(typeof classScoreNames)[number], number>>;

/** Products of resampled rows and classes: as much as a resample may cost. */
const mostWork = 65_536;

/** A probability of 0 counts as this one, as in scikit-learn. */
const least = Number.EPSILON;

/** What the scores of some rows are made from, made once. */
interface Prepared {
  readonly rows: number;
  readonly classes: number;
  readonly losses: Float64Array;
  readonly squares: Float64Array;
  /** truth · K + predicted */
  readonly cells: Int32Array;
  readonly bins: BinnedRows;
  /** One ranking a class; of two classes only the second's. */
  readonly rankings: readonly Ranking[];
}

/** `threshold`: of two classes, from which probability on a row is taken for the second. */
export function classScores(table: ClassRows, baselines: BaselineRows, threshold = 0.5): readonly Score[] {
  const values = valuesOf(prepare(table, threshold), null);
  const intervals = bootstrap(table, threshold, values);
  const of = (probabilities: Float64Array | null, at: number): Values | null =>
    probabilities && valuesOf(prepare({ ...table, probabilities }, at), null);
  const linear = of(baselines.linear, threshold);
  // "Always the commonest" stays that answer wherever the threshold is.
  const constant = of(constantProbabilities(table.truth.length, baselines.constant), 0.5);
  return classScoreNames
    .filter((name) => Number.isFinite(values[name]))
    .map((name) => ({
      name,
      value: values[name],
      ...intervals[name],
      linear: known(linear?.[name]),
      constant: known(constant?.[name]),
    }));
}

/** The scores alone; NaN where one does not exist. */
export const plainClassScores = (table: ClassRows, threshold = 0.5): Values =>
  valuesOf(prepare(table, threshold), null);

const known = (value: number | undefined): number | null => (Number.isFinite(value) ? (value as number) : null);

/** [N,K] the same shares for each row. */
export function constantProbabilities(rows: number, shares: readonly number[]): Float64Array {
  const K = shares.length;
  const probabilities = new Float64Array(rows * K);
  for (let i = 0; i < probabilities.length; i++) probabilities[i] = shares[i % K];
  return probabilities;
}

/** The class a row is taken for: the likeliest one, of equal ones the first; of two classes by the threshold. */
export function predictedClass(probabilities: Float64Array, row: number, classes: number, threshold = 0.5): number {
  if (classes === 2) return probabilities[row * 2 + 1] > threshold ? 1 : 0;
  let best = 0;
  for (let k = 1; k < classes; k++) {
    if (probabilities[row * classes + k] > probabilities[row * classes + best]) best = k;
  }
  return best;
}

/** Classes that rows are ranked by: of two only the second. */
export const rankedClasses = ({ classes }: Pick<ClassRows, 'classes'>): readonly number[] =>
  classes.length === 2 ? [1] : [...classes.keys()];

/** The rows by the probability of a class. */
export function rankingOf({ classes, truth, probabilities }: ClassRows, wanted: number): Ranking {
  const scores = new Float64Array(truth.length);
  for (let row = 0; row < scores.length; row++) scores[row] = probabilities[row * classes.length + wanted];
  return rank(scores, truth, wanted);
}

/** One ranking a class; of two classes only the second's. */
export const rankingsOf = (table: ClassRows): readonly Ranking[] =>
  rankedClasses(table).map((wanted) => rankingOf(table, wanted));

function prepare(table: ClassRows, threshold: number): Prepared {
  const { truth, probabilities, classes } = table;
  const K = classes.length;
  const rows = truth.length;
  const losses = new Float64Array(rows);
  const squares = new Float64Array(rows);
  const cells = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const own = probabilities[row * K + truth[row]];
    losses[row] = -Math.log(Math.min(1 - least, Math.max(least, own)));
    let sum = 0;
    for (let k = 0; k < K; k++) {
      const p = probabilities[row * K + k];
      sum += k === truth[row] ? (1 - p) ** 2 : p * p;
    }
    // Of two classes the half, as Brier (1950) has come to be used.
    squares[row] = K === 2 ? sum / 2 : sum;
    cells[row] = truth[row] * K + predictedClass(probabilities, row, K, threshold);
  }
  return { rows, classes: K, losses, squares, cells, bins: binsOf(table), rankings: rankingsOf(table) };
}

/** The scores of rows with a weight each; null = 1 each. Those that do not exist are NaN. */
function valuesOf(prepared: Prepared, weights: ArrayLike<number> | null): Values {
  const { rows, classes: K, losses, squares, cells, bins, rankings } = prepared;
  let total = 0;
  let loss = 0;
  let square = 0;
  const counts = new Float64Array(K * K);
  const hits = new Float64Array(calibrationBins);
  const sums = new Float64Array(calibrationBins);
  for (let row = 0; row < rows; row++) {
    const weight = weights === null ? 1 : weights[row];
    if (weight === 0) continue;
    total += weight;
    loss += weight * losses[row];
    square += weight * squares[row];
    counts[cells[row]] += weight;
    const bin = bins.bin[row];
    sums[bin] += weight * bins.probability[row];
    hits[bin] += weight * bins.hit[row];
  }
  let roc = 0;
  let pr = 0;
  let present = 0;
  for (const ranking of rankings) {
    const area = areas(ranking, weights);
    if (Number.isNaN(area.roc) || Number.isNaN(area.pr)) continue;
    roc += area.roc;
    pr += area.pr;
    present++;
  }
  return {
    roc_auc: roc / present,
    pr_auc: pr / present,
    log_loss: loss / total,
    brier: square / total,
    ece: calibrationError(sums, hits, total),
    ...countScores(counts, K),
  };
}

/** Scores that depend on the confusion matrix [K·K] alone. */
export function countScores(
  counts: ArrayLike<number>,
  K: number,
): { readonly balanced_accuracy: number; readonly accuracy: number; readonly f1: number } {
  let right = 0;
  let total = 0;
  let recalls = 0;
  let scores = 0;
  let present = 0;
  for (let k = 0; k < K; k++) {
    let rows = 0;
    let predicted = 0;
    for (let j = 0; j < K; j++) {
      rows += counts[k * K + j];
      predicted += counts[j * K + k];
    }
    const hits = counts[k * K + k];
    right += hits;
    total += rows;
    if (rows === 0) continue;
    present++;
    recalls += hits / rows;
    if (K !== 2) scores += (2 * hits) / (rows + predicted);
  }
  const taken = 2 * counts[3] + counts[1] + counts[2];
  const f1 = K === 2 ? (taken > 0 ? (2 * counts[3]) / taken : NaN) : scores / present;
  return { balanced_accuracy: recalls / present, accuracy: right / total, f1 };
}

/** Confusion matrix [K·K], row = true class. */
export function confusionOf({ truth, probabilities, classes }: ClassRows, threshold = 0.5): Float64Array {
  const K = classes.length;
  const counts = new Float64Array(K * K);
  truth.forEach((k, row) => counts[k * K + predictedClass(probabilities, row, K, threshold)]++);
  return counts;
}

/** Some of the rows. */
export function takeRows(table: ClassRows, places: Uint32Array): ClassRows {
  const K = table.classes.length;
  const probabilities = new Float64Array(places.length * K);
  places.forEach((row, at) => probabilities.set(table.probabilities.subarray(row * K, (row + 1) * K), at * K));
  return {
    ...table,
    sources: Uint32Array.from(places, (row) => table.sources[row]),
    truth: Int32Array.from(places, (row) => table.truth[row]),
    probabilities,
  };
}

function bootstrap(
  table: ClassRows,
  threshold: number,
  values: Values,
): Readonly<Record<keyof Values, { readonly low: number; readonly high: number }>> {
  const rows = table.truth.length;
  const most = Math.max(2_000, Math.min(mostResampled, Math.floor(mostWork / table.classes.length)));
  const places = resampledRows(rows, most);
  const part = places.length === rows ? table : takeRows(table, places);
  const prepared = prepare(part, threshold);
  const center = places.length === rows ? values : valuesOf(prepared, null);
  const drawn = classScoreNames.map(() => new Float64Array(resamples));
  resample(places.length, (weights, number) => {
    const found = valuesOf(prepared, weights);
    classScoreNames.forEach((name, i) => (drawn[i][number] = found[name]));
  });
  const share = places.length / rows;
  return Object.fromEntries(
    classScoreNames.map((name, i) => [
      name,
      name === 'accuracy'
        ? wilson(Math.round(values.accuracy * rows), rows)
        : earned(widened(percentiles(drawn[i]), values[name], center[name], share), rows),
    ]),
  ) as ReturnType<typeof bootstrap>;
}
