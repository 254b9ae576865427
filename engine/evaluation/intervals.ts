// Intervals at 95 %: the bootstrap's (percentile; Efron & Tibshirani 1993), of a share (Wilson 1927), of a median by ranks. Random numbers
// are counters' (optim/random.ts): the same rows always have the same interval.

import { drawnPlaces, sequentialWords } from '../optim/random.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const resamples = 1_000;
const normal95 = 1.959963984540054;
const seed = 20;
const streams = { rows: 7, subset: 8, cells: 9 } as const;

/**
 * Of more rows than this a fixed random part is resampled, and the deviations found are scaled by the root of its share: of a
 * statistic that is estimated at the usual rate both have the same width (Bickel, Götze & van Zwet 1997), at a cost that no longer grows.
 */
export const mostResampled = 8_192;

/** The rows that are resampled: all, or a part drawn without replacement. */
export const resampledRows = (rows: number, most = mostResampled): Uint32Array =>
  drawnPlaces(rows, most, seed, streams.subset);

/** Calls `use` with how often each of so many rows was drawn, `resamples` times; the array is the same one. */
export function resample(rows: number, use: (weights: Uint16Array, number: number) => void, times = resamples): void {
  let number = 0;
  for (const weights of resamplings(rows, times)) use(weights, number++);
}

/** The same one after the other, for whoever does something else between. */
export function* resamplings(rows: number, times: number): Generator<Uint16Array, void> {
  const weights = new Uint16Array(rows);
  const scale = rows / 2 ** 32;
  const next = sequentialWords(seed, streams.rows, rows);
  for (let number = 0; number < times; number++) {
    weights.fill(0);
    for (let draw = 0; draw < rows; draw++) weights[Math.floor(next() * scale)]++;
    yield weights;
  }
}

/** What is between the 2.5th and the 97.5th percentile; values that are no numbers (a class was not drawn) are left out. */
export function percentiles(values: Float64Array): Interval {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  return { low: quantile(known, 0.025), high: quantile(known, 0.975) };
}

/** Of fewer rows a bootstrap only repeats what happened to be there. */
export const fewestResampled = 10;
const noInterval: Interval = { low: NaN, high: NaN };

/** A bootstrap's interval, or none: of a few rows, or where every resample said the same (all right, say), it would claim a certainty nobody has. */
export function earned(interval: Interval, rows: number): Interval {
  return rows < fewestResampled || interval.low === interval.high ? noInterval : interval;
}

/** By linear interpolation, of sorted values. */
export function quantile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return NaN;
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/** The interval of all rows from that of a part of them. `center`: the value of the part. */
export function widened({ low, high }: Interval, value: number, center: number, share: number): Interval {
  if (share === 1) return { low, high };
  const scale = Math.sqrt(share);
  return { low: value + (low - center) * scale, high: value + (high - center) * scale };
}

/** Of a share of so many. */
export function wilson(hits: number, rows: number): Interval {
  if (rows === 0) return { low: 0, high: 1 };
  const z = normal95 ** 2;
  const center = (hits + z / 2) / (rows + z);
  const half = (normal95 * Math.sqrt((hits * (rows - hits)) / rows + z / 4)) / (rows + z);
  return { low: hits === 0 ? 0 : center - half, high: hits === rows ? 1 : center + half };
}

/** Of a mean, by its standard error. */
export function meanInterval(mean: number, deviation: number, rows: number): Interval {
  const half = rows > 1 ? (normal95 * deviation) / Math.sqrt(rows) : Infinity;
  return { low: mean - half, high: mean + half };
}

/** Of the median of sorted values: the ranks between which it lies in 95 % of samples (binomial, by its normal limit). */
export function medianInterval(sorted: Float64Array): Interval {
  const rows = sorted.length;
  const half = (normal95 * Math.sqrt(rows)) / 2;
  const low = Math.max(0, Math.floor(rows / 2 - half));
  const high = Math.min(rows - 1, Math.ceil(rows / 2 + half));
  return { low: sorted[low], high: sorted[high] };
}

/**
 * Resamples counts of cells (multinomial, cell by cell, as conditional binomials): for scores that depend on a table of counts alone this
 * is the bootstrap of the rows, at a cost that does not depend on them.
 */
export function resampleCells(
  counts: readonly number[],
  use: (drawn: readonly number[], number: number) => void,
): void {
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const next = sequentialWords(seed, streams.cells, rows);
  const uniform = (): number => (next() + 0.5) / 2 ** 32;
  const drawn = counts.map(() => 0);
  for (let number = 0; number < resamples; number++) {
    let left = rows;
    let share = rows;
    for (let cell = 0; cell < counts.length; cell++) {
      const count = share === counts[cell] ? left : binomial(left, counts[cell] / share, uniform);
      drawn[cell] = count;
      left -= count;
      share -= counts[cell];
    }
    use(drawn, number);
  }
}

/** A binomial number: by inversion where its mean is small, else by rejection (BTRS: Hörmann 1993). */
function binomial(n: number, p: number, uniform: () => number): number {
  if (n === 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial(n, 1 - p, uniform);
  return n * p < 10 ? inverted(n, p, uniform) : rejected(n, p, uniform);
}

function inverted(n: number, p: number, uniform: () => number): number {
  const odds = p / (1 - p);
  let term = Math.exp(n * Math.log1p(-p));
  let rest = uniform();
  let k = 0;
  while (rest > term && k < n) {
    rest -= term;
    term *= ((n - k) / (k + 1)) * odds;
    k++;
  }
  return k;
}

function rejected(n: number, p: number, uniform: () => number): number {
  const deviation = Math.sqrt(n * p * (1 - p));
  const b = 1.15 + 2.53 * deviation;
  const a = -0.0873 + 0.0248 * b + 0.01 * p;
  const c = n * p + 0.5;
  const limit = 0.92 - 4.2 / b;
  const alpha = (2.83 + 5.1 / b) * deviation;
  const logOdds = Math.log(p / (1 - p));
  const mode = Math.floor((n + 1) * p);
  const height = logFactorial(mode) + logFactorial(n - mode);
  for (;;) {
    const u = uniform() - 0.5;
    const v = uniform();
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + c);
    if (k < 0 || k > n) continue;
    if (us >= 0.07 && v <= limit) return k;
    const bound = height - logFactorial(k) - logFactorial(n - k) + (k - mode) * logOdds;
    if (Math.log((v * alpha) / (a / us ** 2 + b)) <= bound) return k;
  }
}

/** ln n!, by Stirling's series above ten. */
export function logFactorial(n: number): number {
  if (n < 10) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  const x = n + 1;
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse / 1260)) / x;
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + series;
}
