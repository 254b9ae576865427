// Columns as bins of one byte: what trees see of a table. Numbers go to bins of about equal counts between edges, categories each
// to one of their own; the last bin of a column holds what is missing, or the categories without a bin.

import { rawCodes, type RawColumn } from '../../model/spec.ts';
import { sortNumbers } from './sort-numbers.ts';

/** Bins of a column at most, beside the last one. */
export const mostBins = 255;
/** Rows of a bin at least, where values are many: LightGBM's `min_data_in_bin`. */
const leastRows = 3;

/** How a column becomes bytes. Bin `bins` is for what is missing. */
export type ColumnBins =
  | {
      readonly kind: 'number';
      readonly bins: number;
      /** [bins − 1], ascending: bin b holds the values above edge b − 1, up to edge b. */
      readonly edges: Float64Array;
    }
  /** Bin b holds code `codes[b]`; all others are in the last. */
  | { readonly kind: 'category'; readonly bins: number; readonly codes: Int32Array };

/** The bins of a column by a sample of its values; `column` says what they are. */
export function binsOf(column: RawColumn, sample: Float64Array): ColumnBins {
  if (column.kind === 'category') return categoryBins(sample);
  const own = sample.slice();
  return numberBins(sortNumbers(own.subarray(0, moveKnown(own))));
}

/** Brings the values that are there to the front, in their order; returns how many they are. */
export function moveKnown(sample: Float64Array): number {
  let known = 0;
  for (let i = 0; i < sample.length; i++) {
    const value = sample[i];
    sample[known] = value;
    known += value === value ? 1 : 0;
  }
  return known;
}

/** Distinct values in order, and the rows of each. */
interface Distinct {
  readonly values: Float64Array;
  readonly counts: Uint32Array;
}

/** The bins of a column of numbers by known values in order, whose array is used up. */
export function numberBins(sorted: Float64Array): ColumnBins {
  const known = sorted.length;
  const counts = new Uint32Array(known);
  let distinct = 0;
  for (let i = 0; i < known; i++) {
    // −0 is 0.
    if (distinct === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    counts[distinct - 1]++;
  }
  const found: Distinct = { values: sorted.subarray(0, distinct), counts: counts.subarray(0, distinct) };
  const edges = distinct <= mostBins ? edgesOfFew(found) : edgesOfMany(found, known);
  return { kind: 'number', bins: edges.length + 1, edges: Float64Array.from(edges) };
}

/** Between two neighbours: not below `low`, below `high`, and a number that JSON can hold. */
function between(low: number, high: number): number {
  const middle = low / 2 + high / 2;
  if (middle >= low && middle < high) return Math.max(middle, -Number.MAX_VALUE);
  return Math.max(low, -Number.MAX_VALUE);
}

/** Each value a bin, neighbours together until they are enough rows. */
function edgesOfFew({ values, counts }: Distinct): number[] {
  const edges: number[] = [];
  let rows = 0;
  for (let i = 0; i + 1 < values.length; i++) {
    rows += counts[i];
    if (rows < leastRows) continue;
    edges.push(between(values[i], values[i + 1]));
    rows = 0;
  }
  return edges;
}

/** About equal counts; a value with more rows than that has a bin of its own. */
function edgesOfMany({ values, counts }: Distinct, total: number): number[] {
  const most = Math.max(1, Math.min(mostBins, Math.floor(total / leastRows)));
  let share = total / most;
  let [restBins, restRows] = [most, total];
  const much = share;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] < much) continue;
    restBins--;
    restRows -= counts[i];
  }
  share = restRows / Math.max(1, restBins);
  const edges: number[] = [];
  let rows = 0;
  for (let i = 0; i + 1 < values.length && edges.length + 1 < most; i++) {
    const large = counts[i] >= much;
    if (!large) restRows -= counts[i];
    rows += counts[i];
    const full = large || rows >= share || (counts[i + 1] >= much && rows >= Math.max(1, share / 2));
    if (!full) continue;
    edges.push(between(values[i], values[i + 1]));
    if (!large) share = restRows / Math.max(1, --restBins);
    rows = 0;
  }
  return edges;
}

/** The most frequent codes have bins; of equal ones the lower. What is missing is a category like others. */
function categoryBins(sample: Float64Array): ColumnBins {
  const counts = new Map<number, number>();
  for (const code of sample) {
    if (code !== rawCodes.unseen) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const codes = [...counts]
    .sort(([a, rowsA], [b, rowsB]) => rowsB - rowsA || a - b)
    .slice(0, mostBins)
    .map(([code]) => code);
  return { kind: 'category', bins: codes.length, codes: Int32Array.from(codes) };
}

/** Writes the bins of rows into column `at` of `bins` [rows, width]; `x` is [rows, width] too. */
export type Binner = (
  x: ArrayLike<number>,
  rows: number,
  width: number,
  at: number,
  bins: Uint8Array,
  first: number,
) => void;

/** The function that puts the values of a column into its bins. */
export function binnerOf(column: ColumnBins): Binner {
  if (column.kind === 'category') return categoryBinner(column.codes);
  const missing = column.bins;
  // Filled up, so that the search is eight steps for all.
  const edges = new Float64Array(256).fill(Infinity);
  edges.set(column.edges);
  return (x, rows, width, at, bins, first) => {
    for (let row = 0, place = at, to = first * width + at; row < rows; row++, place += width, to += width) {
      const value = x[place];
      // The first edge that is not below the value; no branch to be guessed.
      let bin = 0;
      bin += (edges[bin + 127] < value ? 1 : 0) << 7;
      bin += (edges[bin + 63] < value ? 1 : 0) << 6;
      bin += (edges[bin + 31] < value ? 1 : 0) << 5;
      bin += (edges[bin + 15] < value ? 1 : 0) << 4;
      bin += (edges[bin + 7] < value ? 1 : 0) << 3;
      bin += (edges[bin + 3] < value ? 1 : 0) << 2;
      bin += (edges[bin + 1] < value ? 1 : 0) << 1;
      bin += edges[bin] < value ? 1 : 0;
      bins[to] = value === value ? bin : missing;
    }
  };
}

function categoryBinner(codes: Int32Array): Binner {
  const highest = codes.reduce((most, code) => Math.max(most, code), 0);
  const binOf = new Uint8Array(highest + 1).fill(codes.length);
  codes.forEach((code, bin) => (binOf[code] = bin));
  return (x, rows, width, at, bins, first) => {
    for (let row = 0, place = at, to = first * width + at; row < rows; row++, place += width, to += width) {
      const code = x[place];
      bins[to] = code <= highest ? binOf[code] : codes.length;
    }
  };
}
