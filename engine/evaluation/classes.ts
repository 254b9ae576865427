// Class by class: precision, recall and F1 with an interval, and what a class is most often taken for.

import type { Interval } from './intervals.ts';
import { earned, percentiles, resampleCells, resamples, wilson } from './intervals.ts';

export interface ClassReport {
  readonly name: string;
  readonly rows: number;
  readonly predicted: number;
  /** Null where nothing was taken for it. */
  readonly precision: number | null;
  /** Null where no row is of it. */
  readonly recall: number | null;
  readonly recallInterval: Interval | null;
  readonly f1: number | null;
  readonly f1Interval: Interval | null;
  /** The class its rows are most often taken for, and how many; null where all are found. */
  readonly takenFor: { readonly class: number; readonly rows: number } | null;
}

/** `confusion` [K·K], row = true class. */
export function reportClasses(confusion: Float64Array, names: readonly string[]): readonly ClassReport[] {
  const K = names.length;
  const total = confusion.reduce((sum, count) => sum + count, 0);
  return names.map((name, k) => {
    let rows = 0;
    let predicted = 0;
    let other = -1;
    for (let j = 0; j < K; j++) {
      rows += confusion[k * K + j];
      predicted += confusion[j * K + k];
      if (j !== k && confusion[k * K + j] > 0 && (other < 0 || confusion[k * K + j] > confusion[k * K + other]))
        other = j;
    }
    const hits = confusion[k * K + k];
    const [misses, alarms] = [rows - hits, predicted - hits];
    const exists = rows + predicted > 0;
    return {
      ...{ name, rows, predicted },
      precision: predicted > 0 ? hits / predicted : null,
      recall: rows > 0 ? hits / rows : null,
      recallInterval: rows > 0 ? wilson(hits, rows) : null,
      f1: exists ? (2 * hits) / (rows + predicted) : null,
      f1Interval: exists ? f1Interval([hits, misses, alarms, total - hits - misses - alarms]) : null,
      takenFor: other < 0 ? null : { class: other, rows: confusion[k * K + other] },
    };
  });
}

/** Accuracy where `foreign` rows more, of classes that nobody knew, are wrong. `confusion` [K·K]. */
export function accuracyWithForeign(confusion: Float64Array, K: number, foreign: number): number {
  const total = confusion.reduce((sum, count) => sum + count, foreign);
  let right = 0;
  for (let k = 0; k < K; k++) right += confusion[k * K + k];
  return right / total;
}

function f1Interval(cells: readonly number[]): Interval {
  const drawn = new Float64Array(resamples);
  resampleCells(cells, ([hits, misses, alarms], number) => (drawn[number] = (2 * hits) / (2 * hits + misses + alarms)));
  return earned(
    percentiles(drawn),
    cells.reduce((sum, count) => sum + count, 0),
  );
}
