// What the errors of a model of numbers look like: along the predictions, by ranges of the true value, by the values of a column, and in all;
// and whether the interval that the validation rows suggest holds. An error is predicted − true.

import { risingOrder } from './order.ts';
import type { EvaluatedColumns, ValueRows } from '../protocol/evaluated-rows.ts';
import { medianInterval, quantile, wilson, type Interval } from './intervals.ts';
import { cutColumns } from './slices.ts';

/** How errors are told: in the target's unit, or as shares of the true value (where no true value is 0). */
export type ErrorUnit = 'target' | 'share';

/** Shares where all true values are on one side of 0 and spread over more than a factor of three; else they would say little. */
export function usualUnit({ truth }: ValueRows): ErrorUnit {
  const { minimum, maximum } = spanOf(truth);
  const ratio = minimum > 0 ? maximum / minimum : maximum < 0 ? minimum / maximum : 0;
  return ratio > 3 ? 'share' : 'target';
}

/** More than a decade, all above 0: axes are logarithmic. */
export function spansDecade({ truth, predicted }: ValueRows): boolean {
  const { minimum, maximum } = spanOf(truth);
  return minimum > 0 && maximum / minimum > 10 && spanOf(predicted).minimum > 0;
}

function spanOf(values: Float64Array): { readonly minimum: number; readonly maximum: number } {
  let minimum = Infinity;
  let maximum = -Infinity;
  for (const value of values) {
    minimum = Math.min(minimum, value);
    maximum = Math.max(maximum, value);
  }
  return { minimum, maximum };
}

/** [N] */
export function errorsOf({ truth, predicted }: ValueRows, unit: ErrorUnit): Float64Array {
  const errors = new Float64Array(truth.length);
  for (let row = 0; row < errors.length; row++) {
    const error = predicted[row] - truth[row];
    errors[row] = unit === 'share' ? error / Math.abs(truth[row]) : error;
  }
  return errors;
}

export interface ErrorRange {
  /** Of the true values, or of the predictions, both ends in it. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** Median of how far off it is, with its interval. */
  readonly off: number;
  readonly interval: Interval;
  /** Median error: above 0 = too high. */
  readonly bias: number;
  /** Of the errors. */
  readonly tenth: number;
  readonly ninetieth: number;
}

/** Ranges of about equal rows along `along` [N]; values that are equal stay together. */
export function errorsAlong(along: Float64Array, errors: Float64Array, ranges = 8): readonly ErrorRange[] {
  const rows = along.length;
  const order = risingOrder(along);
  const found: ErrorRange[] = [];
  let start = 0;
  for (let range = 1; range <= ranges; range++) {
    let end = Math.round((range * rows) / ranges);
    while (end < rows && end > start && along[order[end]] === along[order[end - 1]]) end++;
    if (end <= start) continue;
    const part = new Float64Array(end - start);
    const absolute = new Float64Array(end - start);
    for (let place = start; place < end; place++) {
      part[place - start] = errors[order[place]];
      absolute[place - start] = Math.abs(errors[order[place]]);
    }
    part.sort();
    absolute.sort();
    found.push({
      ...{ from: along[order[start]], to: along[order[end - 1]], rows: end - start },
      ...{ off: quantile(absolute, 0.5), interval: medianInterval(absolute) },
      ...{ bias: quantile(part, 0.5), tenth: quantile(part, 0.1), ninetieth: quantile(part, 0.9) },
    });
    start = end;
  }
  return found;
}

export interface ErrorBox {
  readonly label: string;
  readonly rows: number;
  readonly tenth: number;
  readonly lower: number;
  readonly median: number;
  readonly upper: number;
  readonly ninetieth: number;
}

/** Of each value, or range of values, of one column. */
export function errorsByColumn(columns: EvaluatedColumns, column: number, errors: Float64Array): readonly ErrorBox[] {
  const one = { columns: [columns.columns[column]], values: [columns.values[column]] };
  const [cut] = cutColumns(one).columns;
  if (cut === undefined) return [];
  const groups: number[][] = cut.labels.map(() => []);
  cut.codes.forEach((code, row) => groups[code]?.push(errors[row]));
  return groups.flatMap((group, code) => {
    if (group.length === 0) return [];
    const sorted = Float64Array.from(group).sort();
    const [tenth, lower, median, upper, ninetieth] = [0.1, 0.25, 0.5, 0.75, 0.9].map((share) =>
      quantile(sorted, share),
    );
    return [{ label: cut.labels[code].replace(/^= /, ''), rows: group.length, tenth, lower, median, upper, ninetieth }];
  });
}

export interface ErrorHistogram {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
  /** Rows beyond either end. */
  readonly below: number;
  readonly above: number;
}

/** Equal bins around 0, as far as 98 % of the errors reach. */
export function errorHistogram(errors: Float64Array, bins = 24): ErrorHistogram {
  const sizes = errors.map(Math.abs).sort();
  const reach = quantile(sizes, 0.98) || sizes[sizes.length - 1] || 1;
  const counts = new Array<number>(bins).fill(0);
  let below = 0;
  let above = 0;
  for (const error of errors) {
    if (error < -reach) below++;
    else if (error > reach) above++;
    else counts[Math.min(bins - 1, Math.floor(((error + reach) / (2 * reach)) * bins))]++;
  }
  return { from: -reach, to: reach, counts, below, above };
}

export interface Coverage extends Interval {
  /** What the interval promises. */
  readonly promised: number;
  /** Share of the rows it held. */
  readonly held: number;
  readonly hits: number;
  readonly rows: number;
  /** From the prediction to its ends. */
  readonly lower: number;
  readonly upper: number;
}

/**
 * The interval round a prediction that held `promised` of the validation rows (their errors' quantiles: split conformal prediction, Vovk
 * et al. 2005), and how many of other rows it holds.
 */
export function coverageOf(validation: ValueRows, other: ValueRows, promised = 0.8): Coverage {
  const errors = errorsOf(validation, 'target').sort();
  // The true value lies below the prediction by the error.
  const lower = -quantile(errors, 1 - (1 - promised) / 2);
  const upper = -quantile(errors, (1 - promised) / 2);
  let hits = 0;
  other.truth.forEach((truth, row) => {
    const off = truth - other.predicted[row];
    if (off >= lower && off <= upper) hits++;
  });
  const rows = other.truth.length;
  return { promised, held: hits / rows, hits, rows, lower, upper, ...wilson(hits, rows) };
}
