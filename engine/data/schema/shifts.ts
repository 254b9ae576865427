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

/** Rows whose target differs from that of a later one, and the later ones' targets. */
interface Telling {
  readonly rows: readonly number[];
  readonly then: readonly SqlValue[];
}

/**
 * Says of a feature how it follows from `labels` by a shift; null = it does not. `next[row]`: the row that follows, −1 = none. Only rows
 * whose target differs from the later one can tell: a target that stays as it is would agree with anything like it.
 */
export function shiftFinder(
  labels: readonly SqlValue[],
  next: Int32Array,
): (feature: readonly SqlValue[]) => Shift | null {
  const tolerance = toleranceOf(labels, next);
  const same = (one: SqlValue, other: SqlValue): boolean =>
    typeof one === 'number' && typeof other === 'number'
      ? Math.abs(one - other) <= tolerance + 1e-12 * Math.max(Math.abs(one), Math.abs(other))
      : one === other;
  /** Rows that have a value, and how many per cent of these values are the later target; null = too few. */
  const agreement = (
    { rows, then }: Telling,
    valueOf: (row: number) => SqlValue,
  ): Omit<Shift, 'kind' | 'by'> | null => {
    const mostOthers = rows.length * (1 - agreeing);
    let [known, agree] = [0, 0];
    for (let at = 0; at < rows.length && known - agree <= mostOthers; at++) {
      const value = valueOf(rows[at] as number);
      if (value === null) continue;
      known++;
      agree += Number(same(value, then[at] as SqlValue));
    }
    if (known < fewest || agree < known * agreeing) return null;
    return { rows: known, percent: Math.floor((agree / known) * 100) };
  };
  const told = tellingRows(labels, next, same);
  return (feature) => {
    for (const [index, telling] of told.entries()) {
      const later = agreement(telling, (row) => feature[row] ?? null);
      if (later !== null) return { kind: 'later', by: index + 1, ...later };
    }
    const [following] = told;
    // A running total grows by each row's own target.
    const total =
      following &&
      agreement(following, (row) => {
        const [before, after] = [feature[row], feature[next[row] as number]];
        return typeof before === 'number' && typeof after === 'number' ? after - before : null;
      });
    return total ? { kind: 'total', by: 0, ...total } : null;
  };
}

/** Of one row ahead, two and so on, as long as there are enough of them. */
function tellingRows(
  labels: readonly SqlValue[],
  next: Int32Array,
  same: (one: SqlValue, other: SqlValue) => boolean,
): readonly Telling[] {
  const told: Telling[] = [];
  let ahead = next;
  while (told.length < farthest) {
    const rows: number[] = [];
    ahead.forEach((later, row) => {
      if (later >= 0 && !same(labels[row] ?? null, labels[later] ?? null)) rows.push(row);
    });
    if (rows.length < fewest) break;
    const reached = ahead;
    told.push({ rows, then: rows.map((row) => labels[reached[row] as number] ?? null) });
    ahead = ahead.map((later) => (later < 0 ? -1 : (next[later] ?? -1)));
  }
  return told;
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
