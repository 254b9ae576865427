// Two runs on the same rows: which is better, and can chance have done it? Of classes McNemar's test (1947), exact (binomial, two-sided), of
// numbers the paired bootstrap of the mean absolute error.

import type { EvaluatedRows } from '../protocol/evaluated-rows.ts';
import { predictedClass } from './class-scores.ts';
import { logFactorial, percentiles, resampledRows, resamples, resamplings, type Interval } from './intervals.ts';

export interface PairedTest {
  /** Rows both were asked about. */
  readonly rows: number;
  /** Rows on which the second is better, and worse. */
  readonly better: number;
  readonly worse: number;
  /** Of classes: rows on which both are right; null of numbers. */
  readonly bothRight: number | null;
  /** Mean difference a row, second − first: of the share right, or of the absolute error in the target's unit. */
  readonly difference: Interval & { readonly value: number };
  /** The probability of a difference as large as this or larger if both were as good. */
  readonly p: number;
  readonly test: 'McNemar, exact' | 'paired bootstrap';
}

/**
 * Null where the two have no row in common, or do not predict the same: what is true of a row has to be the same for both. Rows are
 * matched by their number in the dataset.
 */
export function pairedTest(first: EvaluatedRows, second: EvaluatedRows): PairedTest | null {
  const steps = pairedSteps(first, second);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps, for whoever does something else between: a quarter of a second at 20,000 rows. */
export function* pairedSteps(first: EvaluatedRows, second: EvaluatedRows): Generator<void, PairedTest | null> {
  const places = new Map<number, number>();
  first.sources.forEach((source, place) => places.set(source, place));
  const pairs: [number, number][] = [];
  second.sources.forEach((source, place) => {
    const other = places.get(source);
    if (other !== undefined) pairs.push([other, place]);
  });
  if (pairs.length === 0) return null;
  if (first.kind === 'classes' && second.kind === 'classes') {
    const K = first.classes.length;
    if (first.classes.join('\n') !== second.classes.join('\n')) return null;
    if (pairs.some(([a, b]) => first.truth[a] !== second.truth[b])) return null;
    const right = (table: typeof first, row: number): number =>
      predictedClass(table.probabilities, row, K) === table.truth[row] ? 1 : 0;
    const differences = Float64Array.from(pairs, ([a, b]) => right(second, b) - right(first, a));
    const found = counted(differences, 1, yield* meansOf(differences));
    const p = exactBinomial(Math.min(found.better, found.worse), found.better + found.worse);
    const bothRight = pairs.filter(([a, b]) => right(first, a) === 1 && right(second, b) === 1).length;
    return { ...found, bothRight, p, test: 'McNemar, exact' };
  }
  if (first.kind === 'values' && second.kind === 'values') {
    if (first.target !== second.target || pairs.some(([a, b]) => first.truth[a] !== second.truth[b])) return null;
    const off = (table: typeof first, row: number): number => Math.abs(table.predicted[row] - table.truth[row]);
    const differences = Float64Array.from(pairs, ([a, b]) => off(second, b) - off(first, a));
    const means = yield* meansOf(differences);
    return { ...counted(differences, -1, means), bothRight: null, p: bootstrapP(means), test: 'paired bootstrap' };
  }
  return null;
}

/** Means of resampled differences: of all rows, or of a fixed part whose deviations are scaled by the root of its share. */
interface Means {
  /** Of all rows. */
  readonly mean: number;
  /** How far each resample's mean is from it. */
  readonly deviations: Float64Array;
}

function* meansOf(differences: Float64Array): Generator<void, Means> {
  const places = resampledRows(differences.length);
  const part = Float64Array.from(places, (row) => differences[row]);
  const center = meanOf(part);
  const scale = Math.sqrt(part.length / differences.length);
  const deviations = new Float64Array(resamples);
  let number = 0;
  for (const weights of resamplings(part.length, resamples)) {
    let sum = 0;
    for (let row = 0; row < part.length; row++) sum += weights[row] * part[row];
    deviations[number++] = (sum / part.length - center) * scale;
    yield;
  }
  return { mean: meanOf(differences), deviations };
}

const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** `sign`: 1 where more is better. */
function counted(
  differences: Float64Array,
  sign: 1 | -1,
  { mean, deviations }: Means,
): Pick<PairedTest, 'rows' | 'better' | 'worse' | 'difference'> {
  let better = 0;
  let worse = 0;
  for (const difference of differences) {
    if (difference * sign > 0) better++;
    else if (difference !== 0) worse++;
  }
  const interval = percentiles(deviations.map((deviation) => mean + deviation));
  return { rows: differences.length, better, worse, difference: { value: mean, ...interval } };
}

/** The same test seen from the other run. */
export function turned({ better, worse, difference: { value, low, high }, ...same }: PairedTest): PairedTest {
  return { ...same, better: worse, worse: better, difference: { value: -value, low: -high, high: -low } };
}

/** Probability, under a fair coin, of a split of `n` at least as uneven as `k` and the rest. */
export function exactBinomial(k: number, n: number): number {
  if (n === 0) return 1;
  let sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += Math.exp(logFactorial(n) - logFactorial(i) - logFactorial(n - i) - n * Math.LN2);
  }
  return Math.min(1, 2 * sum);
}

/** Holm's step-down rule (1979): each p as it counts among all of them, in their order. Below 0.05, the pair differs whatever the others do. */
export function holm(ps: readonly number[]): readonly number[] {
  const order = ps.map((_, index) => index).sort((a, b) => ps[a] - ps[b]);
  const corrected = ps.slice();
  let least = 0;
  order.forEach((index, rank) => {
    least = Math.max(least, Math.min(1, (ps.length - rank) * ps[index]));
    corrected[index] = least;
  });
  return corrected;
}

/**
 * Rows after which a difference as large as the one found would be told from chance (p < 0.05) four times in five: the error of a mean
 * falls with the root of its rows. Null where they do not differ at all.
 */
export function rowsToTell({ rows, difference }: Pick<PairedTest, 'rows' | 'difference'>): number | null {
  const error = (difference.high - difference.low) / (2 * 1.96);
  if (difference.value === 0 || !(error > 0)) return null;
  return Math.ceil(rows * ((1.96 + 0.8416) * (error / difference.value)) ** 2);
}

/** Two-sided: how often the mean of differences moved to 0 is as far from it as the one found (Efron & Tibshirani 1993, 16.4). */
function bootstrapP({ mean, deviations }: Means): number {
  const beyond = deviations.reduce((count, deviation) => count + (Math.abs(deviation) >= Math.abs(mean) ? 1 : 0), 0);
  return (beyond + 1) / (resamples + 1);
}
