// The best way to split a leaf. Cuts of numbers are found by the kernel tree_split; categories are split here, by their sorted gradient
// statistics (Fisher 1958) as LightGBM does. Gains are those of gradient boosting with L1 and L2 (Chen & Guestrin 2016, equation 7,
// without the halves).

import { splitEntries } from '../../../kernels/tree_split/kernel.ts';
import type { ColumnBins } from './bins.ts';

export interface SplitRules {
  readonly l1: number;
  readonly l2: number;
  readonly minGain: number;
  /** Rows and hessian of a leaf at least. */
  readonly minRows: number;
  readonly minHessian: number;
  /** Added to the hessian where categories are sorted. */
  readonly catSmooth: number;
  /** L2 of the leaves of a split by categories. */
  readonly catL2: number;
  /** [columns]: +1 never falls, −1 never rises; null: all are free. */
  readonly monotone: Int8Array | null;
}

/** LightGBM's `max_cat_to_onehot`, `max_cat_threshold` and `min_data_per_group`. */
const [fewCategories, mostInSet, leastInGroup] = [4, 32, 100];

/** Sums over rows. */
export interface Sums {
  gradient: number;
  hessian: number;
  rows: number;
}

/** A leaf's value lies within. */
export interface Bounds {
  readonly lowest: number;
  readonly highest: number;
}

export const unbound: Bounds = { lowest: -Infinity, highest: Infinity };

export interface Split {
  readonly column: number;
  readonly cut: number;
  readonly set: readonly number[] | null;
  readonly missingLeft: boolean;
  /** Above that of the leaf as it is. */
  readonly gain: number;
  readonly left: Sums;
  readonly right: Sums;
  readonly leftValue: number;
  readonly rightValue: number;
}

/** Soft threshold. */
const shrunk = (gradient: number, l1: number): number =>
  l1 === 0 ? gradient : Math.sign(gradient) * Math.max(0, Math.abs(gradient) - l1);

/** What a leaf adds to the scores of its rows. */
export function leafValue({ gradient, hessian }: Sums, l1: number, l2: number, bounds: Bounds = unbound): number {
  const value = hessian + l2 > 0 ? -shrunk(gradient, l1) / (hessian + l2) : 0;
  return Math.min(bounds.highest, Math.max(bounds.lowest, value));
}

/** Twice what a leaf takes off the loss with its best value, or with one that its bounds allow. */
function score(gradient: number, hessian: number, l1: number, l2: number, bounds: Bounds): number {
  const t = shrunk(gradient, l1);
  if (hessian + l2 <= 0) return 0;
  if (bounds === unbound) return (t * t) / (hessian + l2);
  const value = Math.min(bounds.highest, Math.max(bounds.lowest, -t / (hessian + l2)));
  return -(2 * t * value + (hessian + l2) * value * value);
}

/** Numbers of a bin: gradient, hessian, rows. */
const entries = 3;

/** Looks for splits of one leaf. */
export class SplitFinder {
  readonly #columns: readonly ColumnBins[];
  readonly #rules: SplitRules;
  /** Of the column that is looked at, [bins, 3]. */
  #histogram: Float64Array = new Float64Array(0);
  #total: Sums = { gradient: 0, hessian: 0, rows: 0 };
  #bounds: Bounds = unbound;
  #parent = 0;
  #best: Split | null = null;
  /** Gain above the least one, of the best so far. */
  #bestGain = 0;

  constructor(columns: readonly ColumnBins[], rules: SplitRules) {
    this.#columns = columns;
    this.#rules = rules;
  }

  /**
   * The best split of a leaf by the columns in `chosen`; of equal ones the first. `cuts` [columns, 8] has the best of each column
   * of numbers, `histograms` [bins, 3] those of categories. Null: nothing gains enough.
   */
  best(
    total: Sums,
    chosen: Int32Array,
    bounds: Bounds,
    cuts: Float64Array,
    histograms: ReadonlyMap<number, Float64Array>,
  ): Split | null {
    const { l1, l2, minRows } = this.#rules;
    this.#total = total;
    this.#bounds = this.#rules.monotone === null ? unbound : bounds;
    this.#parent = score(total.gradient, total.hessian, l1, l2, this.#bounds);
    this.#best = null;
    this.#bestGain = 0;
    if (total.rows < 2 * minRows) return null;
    for (const column of chosen) {
      const histogram = histograms.get(column);
      if (histogram) this.#byCategory(column, histogram);
      else this.#byNumber(column, cuts.subarray(column * splitEntries, (column + 1) * splitEntries));
    }
    return this.#best;
  }

  #byNumber(column: number, [gain, cut, missingLeft, gradient, hessian, rows]: Float64Array): void {
    const { l1, l2, minGain } = this.#rules;
    if (gain - minGain <= this.#bestGain) return;
    const total = this.#total;
    const left: Sums = { gradient, hessian, rows };
    const right: Sums = {
      gradient: total.gradient - gradient,
      hessian: total.hessian - hessian,
      rows: total.rows - rows,
    };
    const leftValue = leafValue(left, l1, l2, this.#bounds);
    const rightValue = leafValue(right, l1, l2, this.#bounds);
    const side = { column, cut, set: null, missingLeft: missingLeft === 1 };
    this.#take({ ...side, gain, left, right, leftValue, rightValue });
  }

  #byCategory(column: number, histogram: Float64Array): void {
    const { bins } = this.#columns[column];
    this.#histogram = histogram;
    const present = Array.from({ length: bins + 1 }, (_, bin) => bin).filter((bin) => histogram[entries * bin + 2] > 0);
    if (present.length < 2) return;
    if (present.length <= fewCategories) {
      for (const bin of present) this.#trySet(column, [bin], this.#sumsOf([bin]), this.#rules.l2);
      return;
    }
    const { catSmooth, catL2, l2 } = this.#rules;
    const ratio = (bin: number): number => histogram[entries * bin] / (histogram[entries * bin + 1] + catSmooth);
    const sorted = present
      .filter((bin) => histogram[entries * bin + 2] >= catSmooth)
      .sort((one, other) => ratio(one) - ratio(other) || one - other);
    const most = Math.min(mostInSet, Math.floor((sorted.length + 1) / 2));
    for (const order of [sorted, sorted.toReversed()]) this.#trySorted(column, order.slice(0, most), l2 + catL2);
  }

  #trySorted(column: number, order: readonly number[], l2: number): void {
    const { minRows, minHessian } = this.#rules;
    const left: Sums = { gradient: 0, hessian: 0, rows: 0 };
    let group = 0;
    for (let i = 0; i < order.length; i++) {
      const { gradient, hessian, rows } = this.#sumsOf(order.slice(i, i + 1));
      left.gradient += gradient;
      left.hessian += hessian;
      left.rows += rows;
      group += rows;
      if (left.rows < minRows || left.hessian < minHessian) continue;
      const rest = this.#total.rows - left.rows;
      if (rest < minRows || rest < leastInGroup) break;
      if (group < leastInGroup) continue;
      group = 0;
      this.#trySet(column, order.slice(0, i + 1), left, l2);
    }
  }

  #sumsOf(bins: readonly number[]): Sums {
    const sums: Sums = { gradient: 0, hessian: 0, rows: 0 };
    for (const bin of bins) {
      const at = entries * bin;
      sums.gradient += this.#histogram[at];
      sums.hessian += this.#histogram[at + 1];
      sums.rows += this.#histogram[at + 2];
    }
    return sums;
  }

  /** A split of categories: those of the set go left. */
  #trySet(column: number, set: readonly number[], left: Sums, l2: number): void {
    const { l1, minGain, minRows, minHessian } = this.#rules;
    const total = this.#total;
    const right: Sums = {
      gradient: total.gradient - left.gradient,
      hessian: total.hessian - left.hessian,
      rows: total.rows - left.rows,
    };
    if (Math.min(left.rows, right.rows) < minRows || Math.min(left.hessian, right.hessian) < minHessian) return;
    const bounds = this.#bounds;
    const gain =
      score(left.gradient, left.hessian, l1, l2, bounds) +
      score(right.gradient, right.hessian, l1, l2, bounds) -
      this.#parent;
    if (gain - minGain <= this.#bestGain) return;
    const leftValue = leafValue(left, l1, l2, bounds);
    const rightValue = leafValue(right, l1, l2, bounds);
    const sorted = set.toSorted((one, other) => one - other);
    const sums = { left: { ...left }, right };
    this.#take({ column, cut: 0, set: sorted, missingLeft: false, gain, ...sums, leftValue, rightValue });
  }

  #take(split: Split): void {
    this.#best = split;
    this.#bestGain = split.gain - this.#rules.minGain;
  }
}
