// Scores of a model of numbers, each with its bootstrap interval and beside those of the baselines. N rows, in the target's unit; an error is
// predicted − true.

import type { BaselineRows, ValueRows, Score, ScoreName } from '../protocol/evaluated-rows.ts';
import { earned, percentiles, resample, resampledRows, resamples, widened, wilson } from './intervals.ts';

export const valueScoreNames = ['rmse', 'mae', 'mape', 'within', 'r2', 'bias'] as const satisfies readonly ScoreName[];

type Values = Readonly<Record<(typeof valueScoreNames)[number], number>>;

/** `near`: how far a row may be off to count as within, as a share of the true value. */
export function valueScores(table: ValueRows, baselines: BaselineRows, near = 0.1): readonly Score[] {
  const values = valuesOf(table, near, null);
  const intervals = bootstrap(table, near, values);
  const of = (predicted: Float64Array | null): Values | null =>
    predicted && valuesOf({ ...table, predicted }, near, null);
  const linear = of(baselines.linear);
  const constant = of(new Float64Array(table.truth.length).fill(baselines.constant[0]));
  return valueScoreNames
    .filter((name) => Number.isFinite(values[name]))
    .map((name) => ({
      name,
      value: values[name],
      ...intervals[name],
      linear: finite(linear?.[name]),
      constant: finite(constant?.[name]),
    }));
}

/** The scores alone; NaN where one does not exist. */
export const plainValueScores = (table: Pick<ValueRows, 'truth' | 'predicted'>, near = 0.1): Values =>
  valuesOf(table, near, null);

const finite = (value: number | undefined): number | null => (Number.isFinite(value) ? (value as number) : null);

/** Errors in per cent exist for true values other than 0: those rows are left out of them. */
function valuesOf(
  { truth, predicted }: Pick<ValueRows, 'truth' | 'predicted'>,
  near: number,
  weights: ArrayLike<number> | null,
): Values {
  const rows = truth.length;
  // Sums of values that are near each other and far from 0 would lose their digits.
  const origin = rows > 0 ? truth[0] : 0;
  let total = 0;
  let squares = 0;
  let absolutes = 0;
  let errors = 0;
  let shares = 0;
  let within = 0;
  let shared = 0;
  let sum = 0;
  let sumOfSquares = 0;
  for (let row = 0; row < rows; row++) {
    const weight = weights === null ? 1 : weights[row];
    if (weight === 0) continue;
    const error = predicted[row] - truth[row];
    const absolute = Math.abs(error);
    const moved = truth[row] - origin;
    total += weight;
    squares += weight * error * error;
    absolutes += weight * absolute;
    errors += weight * error;
    sum += weight * moved;
    sumOfSquares += weight * moved * moved;
    if (truth[row] === 0) continue;
    const share = absolute / Math.abs(truth[row]);
    shared += weight;
    shares += weight * share;
    if (share <= near) within += weight;
  }
  const variance = sumOfSquares - (sum * sum) / total;
  return {
    rmse: Math.sqrt(squares / total),
    mae: absolutes / total,
    mape: shares / shared,
    within: within / shared,
    r2: total > 1 && variance > 0 ? 1 - squares / variance : NaN,
    bias: errors / total,
  };
}

/** Rows that are within, of those it can be said of. */
function counted({ truth, predicted }: ValueRows, near: number): readonly [hits: number, rows: number] {
  let [hits, rows] = [0, 0];
  truth.forEach((value, row) => {
    if (value === 0) return;
    rows++;
    if (Math.abs(predicted[row] - value) / Math.abs(value) <= near) hits++;
  });
  return [hits, rows];
}

function bootstrap(
  table: ValueRows,
  near: number,
  values: Values,
): Readonly<Record<keyof Values, { readonly low: number; readonly high: number }>> {
  const rows = table.truth.length;
  const places = resampledRows(rows);
  const part = {
    truth: Float64Array.from(places, (row) => table.truth[row]),
    predicted: Float64Array.from(places, (row) => table.predicted[row]),
  };
  const center = valuesOf(part, near, null);
  const drawn = valueScoreNames.map(() => new Float64Array(resamples));
  resample(places.length, (weights, number) => {
    const found = valuesOf(part, near, weights);
    valueScoreNames.forEach((name, i) => (drawn[i][number] = found[name]));
  });
  return Object.fromEntries(
    valueScoreNames.map((name, i) => [
      name,
      name === 'within'
        ? wilson(...counted(table, near))
        : earned(widened(percentiles(drawn[i]), values[name], center[name], places.length / rows), rows),
    ]),
  ) as ReturnType<typeof bootstrap>;
}
