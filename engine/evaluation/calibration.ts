// Whether probabilities can be taken at their word: ten bins of equal width, in each how often it was so (with Wilson's interval), and
// the expected calibration error (Naeini et al. 2015). Of two classes the probability of the second; of more, that of the likeliest.

import type { ClassRows } from '../protocol/evaluated-rows.ts';
import { wilson, type Interval } from './intervals.ts';

export const calibrationBins = 10;

export interface BinnedRows {
  /** [N] */
  readonly bin: Uint8Array;
  readonly probability: Float64Array;
  /** [N] 1 where it was so. */
  readonly hit: Uint8Array;
}

export interface CalibrationBin extends Interval {
  /** Mean probability of its rows. */
  readonly probability: number;
  readonly share: number;
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

export function binsOf({ classes, truth, probabilities }: ClassRows): BinnedRows {
  const K = classes.length;
  const rows = truth.length;
  const binned = { bin: new Uint8Array(rows), probability: new Float64Array(rows), hit: new Uint8Array(rows) };
  for (let row = 0; row < rows; row++) {
    let chosen = K === 2 ? 1 : 0;
    for (let k = 1; K > 2 && k < K; k++) {
      if (probabilities[row * K + k] > probabilities[row * K + chosen]) chosen = k;
    }
    const p = K === 1 ? 1 : probabilities[row * K + chosen];
    binned.probability[row] = p;
    binned.hit[row] = truth[row] === chosen ? 1 : 0;
    // A bin holds its upper edge.
    binned.bin[row] = Math.min(calibrationBins - 1, Math.max(0, Math.ceil(p * calibrationBins) - 1));
  }
  return binned;
}

/** What adding up probabilities in float64 alone may leave. */
const sumError = 1e-12;

export interface Calibration {
  /** Those that hold rows. */
  readonly bins: readonly CalibrationBin[];
  /** Expected calibration error. */
  readonly error: number;
}

export function calibrationOf(table: ClassRows): Calibration {
  const { bin, probability, hit } = binsOf(table);
  const sums = new Float64Array(calibrationBins);
  const hits = new Float64Array(calibrationBins);
  const rows = new Float64Array(calibrationBins);
  bin.forEach((b, row) => {
    sums[b] += probability[row];
    hits[b] += hit[row];
    rows[b]++;
  });
  const bins: CalibrationBin[] = [];
  rows.forEach((count, b) => {
    if (count === 0) return;
    bins.push({
      ...{ from: b / calibrationBins, to: (b + 1) / calibrationBins, rows: count },
      ...{ probability: sums[b] / count, share: hits[b] / count },
      ...wilson(hits[b], count),
    });
  });
  return { bins, error: calibrationError(sums, hits, bin.length) };
}

/** Expected calibration error of bins with these sums of probabilities and hits, over so many rows. */
export function calibrationError(sums: Float64Array, hits: Float64Array, rows: number): number {
  const error = sums.reduce((off, sum, b) => off + Math.abs(sum - hits[b]), 0) / rows;
  return error < sumError ? 0 : error;
}
