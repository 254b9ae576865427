// Whether a feature is the target of a later row, or a total that the row's own target is part of already. Pure functions on rows
// in the order of time.

import type { SqlValue } from '../database.ts';

export interface Shift {
  readonly kind: 'later' | 'total';
  /** How many rows later. */
  readonly by: number;
  /** Rows that could tell, and of these how many per cent agree. */
  readonly rows: number;
  readonly percent: number;
}

/** Rows looked ahead, at most. */
const farthest = 12;
/** Rows that could tell, at least, and the share that has to agree. */
const fewest = 20;
const agreeing = 0.95;
/** A copy may be rounded to this share of the middle step from one target to the next. */
const rounding = 1e-3;

/**
 * How `feature` follows from `labels` by a shift; null = it does not. `next[row]`: the row that follows, −1 = none. Only rows whose
 * target differs from the later one can tell: a target that stays as it is would agree with anything like it.
 */
export function shiftOf(feature: readonly SqlValue[], labels: readonly SqlValue[], next: Int32Array): Shift | null {
  const tolerance = toleranceOf(labels, next);
  const same = (one: SqlValue, other: SqlValue): boolean =>
    typeof one === 'number' && typeof other === 'number'
      ? Math.abs(one - other) <= tolerance + 1e-12 * Math.max(Math.abs(one), Math.abs(other))
      : one === other;
  let ahead = Int32Array.from(next);
  for (let by = 1; by <= farthest; by++) {
    let [rows, agree] = [0, 0];
    ahead.forEach((later, row) => {
      const [value, label, then] = [feature[row] ?? null, labels[row] ?? null, labels[later] ?? null];
      if (later < 0 || value === null || same(label, then)) return;
      rows++;
      agree += Number(same(value, then));
    });
    if (rows < fewest) break;
    if (agree >= rows * agreeing) return { kind: 'later', by, rows, percent: Math.floor((agree / rows) * 100) };
    ahead = ahead.map((later) => (later < 0 ? -1 : (next[later] ?? -1)));
  }
  return totalOf(feature, labels, next, same);
}

/** A running total of the target: it grows by each row's own. */
function totalOf(
  feature: readonly SqlValue[],
  labels: readonly SqlValue[],
  next: Int32Array,
  same: (one: SqlValue, other: SqlValue) => boolean,
): Shift | null {
  let [rows, agree] = [0, 0];
  next.forEach((later, row) => {
    const [before, after, label] = [feature[row], feature[later], labels[later]];
    if (later < 0 || typeof before !== 'number' || typeof after !== 'number' || typeof label !== 'number') return;
    if (label === 0) return;
    rows++;
    agree += Number(same(after - before, label));
  });
  if (rows < fewest || agree < rows * agreeing) return null;
  return { kind: 'total', by: 0, rows, percent: Math.floor((agree / rows) * 100) };
}

/** By how much numbers may differ and be the same. */
function toleranceOf(labels: readonly SqlValue[], next: Int32Array): number {
  const steps: number[] = [];
  next.forEach((later, row) => {
    const [label, then] = [labels[row], labels[later]];
    if (later < 0 || typeof label !== 'number' || typeof then !== 'number' || label === then) return;
    steps.push(Math.abs(then - label));
  });
  steps.sort((one, other) => one - other);
  return (steps[steps.length >> 1] ?? 0) * rounding;
}
