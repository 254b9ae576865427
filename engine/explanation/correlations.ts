// Columns that say nearly the same: where one is shuffled the other still tells, so that each looks unimportant. Numbers by Pearson's r,
// categories by Cramér's V (1946), a category and a number by the correlation ratio η (Pearson 1905): all from 0 to 1, 1 = the same.

import { isText, rawCodes, type RawColumn } from '../model/spec.ts';
import type { Correlated } from '../protocol/explanation.ts';
import type { Subject } from './subject.ts';

/** From here on a pair is named. */
export const namedFrom = 0.8;
/** Pairs grow with the square of the columns. */
const mostColumns = 200;

/** The strongest pair first. */
export function correlations({ columns, values }: Pick<Subject, 'columns' | 'values'>): readonly Correlated[] {
  const found: Correlated[] = [];
  const most = Math.min(columns.length, mostColumns);
  for (let a = 0; a < most; a++) {
    for (let b = a + 1; b < most; b++) {
      const r = correlation(columns[a], values[a], columns[b], values[b]);
      if (Math.abs(r) > namedFrom) found.push({ columns: [a, b], r });
    }
  }
  return found.sort((one, other) => Math.abs(other.r) - Math.abs(one.r));
}

/** Over the rows that have both; 0 where that says nothing. */
export function correlation(a: RawColumn, x: Float64Array, b: RawColumn, y: Float64Array): number {
  // A text that every row has for itself goes with anything.
  if (isText(a) || isText(b)) return 0;
  const categories = [a.kind === 'category', b.kind === 'category'];
  const rows = [...x.keys()].filter((row) => isThere(a, x[row]) && isThere(b, y[row]));
  if (rows.length < 3) return 0;
  const [first, second] = [x, y].map((values) => Float64Array.from(rows, (row) => values[row]));
  if (!categories[0] && !categories[1]) return pearson(first, second);
  if (categories[0] && categories[1]) return cramer(first, second);
  return categories[0] ? correlationRatio(first, second) : correlationRatio(second, first);
}

const isThere = ({ kind }: RawColumn, value: number): boolean =>
  kind === 'category' ? value !== rawCodes.missing : !Number.isNaN(value);

function pearson(x: Float64Array, y: Float64Array): number {
  const [mx, my] = [meanOf(x), meanOf(y)];
  let [xy, xx, yy] = [0, 0, 0];
  for (let row = 0; row < x.length; row++) {
    xy += (x[row] - mx) * (y[row] - my);
    xx += (x[row] - mx) ** 2;
    yy += (y[row] - my) ** 2;
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

function cramer(x: Float64Array, y: Float64Array): number {
  const [xs, ys] = [countsOf(x), countsOf(y)];
  const smaller = Math.min(xs.size, ys.size) - 1;
  // With nearly as many values as rows anything goes with anything.
  if (smaller < 1 || xs.size * ys.size > x.length) return 0;
  const cells = new Map<string, number>();
  for (let row = 0; row < x.length; row++) {
    const cell = `${x[row]} ${y[row]}`;
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  let sum = 0;
  for (const [cell, count] of cells) {
    const [a, b] = cell.split(' ').map(Number);
    sum += count ** 2 / ((xs.get(a) ?? 1) * (ys.get(b) ?? 1));
  }
  return Math.sqrt(Math.max(0, sum - 1) / smaller);
}

function correlationRatio(groups: Float64Array, values: Float64Array): number {
  const counts = countsOf(groups);
  if (counts.size < 2 || counts.size > values.length / 4) return 0;
  const sums = new Map<number, number>();
  groups.forEach((group, row) => sums.set(group, (sums.get(group) ?? 0) + values[row]));
  const mean = meanOf(values);
  const between = [...sums].reduce((sum, [group, total]) => {
    const count = counts.get(group) ?? 1;
    return sum + count * (total / count - mean) ** 2;
  }, 0);
  const all = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return all > 0 ? Math.sqrt(between / all) : 0;
}

const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function countsOf(values: Float64Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
