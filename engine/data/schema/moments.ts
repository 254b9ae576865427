// What the numbers of a column add up to, group by group of its rows, so that a table that is written has been measured. Sums go
// by deviations from the group's own mean: a large offset takes no digits from them.

import type { Distinct } from './distinct-sample.ts';

/** A column of numbers, over all rows. Missing values don't count. */
export interface NumberMoments {
  readonly count: number;
  /** Without values, Infinity and −Infinity. */
  readonly minimum: number;
  readonly maximum: number;
  readonly mean: number;
  /** Standard deviation of the sample; 0 for less than two values. */
  readonly deviation: number;
  /** All are whole numbers. */
  readonly whole: boolean;
  /** Different values; null: they were not counted. */
  readonly different: Distinct | null;
}

/** The same of a group of rows; `squares`: the sum of the squared deviations. */
export interface GroupMoments {
  readonly count: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly mean: number;
  readonly squares: number;
  readonly whole: boolean;
}

/** Moments of the first `rows` values, none of them infinite; NaN = missing. */
export function momentsOf(values: Float64Array, rows: number): GroupMoments {
  let [minimum, maximum, missing, sum] = [Infinity, -Infinity, 0, 0];
  for (let row = 0; row < rows; row++) {
    const value = values[row] as number;
    // NaN alone differs from itself.
    if (value !== value) {
      missing++;
      continue;
    }
    if (value < minimum) minimum = value;
    if (value > maximum) maximum = value;
    sum += value;
  }
  const count = rows - missing;
  const whole = isWhole(values, rows);
  if (count === 0 || minimum === maximum) {
    return { count, minimum, maximum, mean: count === 0 ? 0 : minimum, squares: 0, whole };
  }
  const about = sum / count;
  let [rest, squares] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const deviation = (values[row] as number) - about;
    if (deviation !== deviation) continue;
    rest += deviation;
    squares += deviation * deviation;
  }
  return { count, minimum, maximum, mean: about + rest / count, squares: squares - (rest * rest) / count, whole };
}

function isWhole(values: Float64Array, rows: number): boolean {
  for (let row = 0; row < rows; row++) {
    const value = values[row] as number;
    if (value !== Math.trunc(value) && value === value) return false;
  }
  return true;
}

/** Adds up groups of rows (Chan, Golub and LeVeque 1983). */
export class MomentsSum {
  #all: GroupMoments = { count: 0, minimum: Infinity, maximum: -Infinity, mean: 0, squares: 0, whole: true };

  add(group: GroupMoments): void {
    if (group.count === 0) return;
    const all = this.#all;
    const count = all.count + group.count;
    const apart = all.count === 0 ? 0 : group.mean - all.mean;
    this.#all = {
      count,
      minimum: Math.min(all.minimum, group.minimum),
      maximum: Math.max(all.maximum, group.maximum),
      mean: all.count === 0 ? group.mean : all.mean + (apart * group.count) / count,
      squares: all.squares + group.squares + (apart * apart * all.count * group.count) / count,
      whole: all.whole && group.whole,
    };
  }

  moments(): Omit<NumberMoments, 'different'> {
    const { count, minimum, maximum, mean, squares, whole } = this.#all;
    return { count, minimum, maximum, mean, deviation: count < 2 ? 0 : Math.sqrt(squares / (count - 1)), whole };
  }
}
