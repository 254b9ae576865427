// Splits that are not drawn row by row: in the order of time, so that a model is tested on what comes after what it learned
// from; and group by group, so that it is tested on patients, machines or shops it never saw.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning, Fold, SplitBy } from '../../protocol/data.ts';
import { streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import type { ComparedColumn } from '../schema/copy-grids.ts';
import { numericValue, typedValue } from '../schema/stored.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { show } from '../schema/typing.ts';
import { sharesOfRest, splitsOfFold, type Shares } from './folds.ts';
import { drawnGroups, groupsOf, stratifiedFolds } from './groups.ts';
import { leftOut } from './split.ts';

/** Assigns each row to a split by a column, as one fold of a cross-validation where it is one. `strata[row]` < 0: the row is left out. */
export async function splitByColumn(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { kind }: SplitBy,
  { column, info }: ComparedColumn,
  about: {
    readonly strata: Int32Array;
    readonly shares: Shares;
    readonly seed: number;
    readonly fold?: Fold;
    readonly job: Job;
  },
): Promise<{
  readonly splits: Uint8Array;
  /** The value of each row, or the number of its group. */
  readonly keys: Float64Array;
  readonly warnings: readonly DataWarning[];
}> {
  const { strata, shares, seed, fold, job } = about;
  const keys = new Float64Array(table.rows);
  // 53 of a hash's bits: a group is a number that JavaScript can hold.
  const key =
    kind === 'time'
      ? numericValue(column, info.type === 'number' ? 'number' : 'datetime')
      : `CAST(hash(${typedValue(column, 'category')}) >> 11 AS DOUBLE)`;
  const cell = kind === 'time' ? key : `CASE WHEN ${typedValue(column, 'category')} IS NOT NULL THEN ${key} END`;
  let start = 0;
  await streamNumbers(connection, `SELECT ${cell} FROM ${table.from}`, job, ([values], rows) => {
    for (let row = 0; row < rows; row++) keys[start + row] = values?.getItem(row) ?? NaN;
    start += rows;
  });
  const lost = keys.reduce((count, one, row) => count + Number(Number.isNaN(one) && (strata[row] ?? -1) >= 0), 0);
  if (kind === 'group') {
    const splits = fold ? assignGroupFold(keys, strata, shares, seed, fold) : assignGroups(keys, strata, shares, seed);
    const message = `${show(lost)} ${lost === 1 ? 'row has' : 'rows have'} no ${info.name}, by which the split goes: each counts as a group of its own.`;
    return { splits, keys, warnings: lost === 0 ? [] : [{ code: 'no_group', message, columns: [info.name] }] };
  }
  refuseFewTimes(keys, strata, shares, info.name, fold);
  const message = `${show(lost)} ${lost === 1 ? 'row has' : 'rows have'} no ${info.name}, by which the split goes: left out.`;
  return {
    keys,
    splits: fold ? assignFoldInOrder(keys, strata, shares, fold) : assignInOrder(keys, strata, shares),
    warnings: lost === 0 ? [] : [{ code: 'no_time', message, columns: [info.name] }],
  };
}

/** @throws InputError if there are fewer times than splits, or than blocks of a cross-validation. */
function refuseFewTimes(times: Float64Array, strata: Int32Array, shares: Shares, name: string, fold?: Fold): void {
  const splits = shares.filter((share) => share > 0).length;
  // The first block trains and, where rows are to validate, validates.
  const used = fold ? fold.of + (shares[1] > 0 ? 2 : 1) : splits;
  const different = new Set<number>();
  for (let row = 0; row < times.length && different.size < used; row++) {
    if ((strata[row] ?? -1) >= 0 && !Number.isNaN(times[row])) different.add(times[row] as number);
  }
  if (different.size >= used) return;
  const held =
    different.size === 0
      ? 'holds no time'
      : `has ${different.size === 1 ? 'the same time' : `only ${different.size} different times`}`;
  throw new InputError(
    'input.too_few_times',
    `The split cannot go by the time of ${name}: it ${held} in ${different.size === 0 ? 'any row' : 'all rows'}, too few for ${fold ? `${fold.of} folds` : `${used} splits`}.`,
    'Choose another column, or split by chance.',
  );
}

/** The usable rows in the order of time, and the end of the rows of one time that is nearest to a place among them. */
function inOrder(
  times: Float64Array,
  strata: Int32Array,
): { readonly rows: readonly number[]; readonly boundary: (place: number) => number } {
  const rows = [...times.keys()].filter((row) => (strata[row] ?? -1) >= 0 && !Number.isNaN(times[row]));
  rows.sort((one, other) => (times[one] as number) - (times[other] as number) || one - other);
  const timeAt = (index: number): number => times[rows[index] as number] as number;
  const boundary = (place: number): number => {
    if (place <= 0 || place >= rows.length) return place;
    let [before, after] = [place, place];
    while (before > 0 && timeAt(before - 1) === timeAt(place)) before--;
    while (after < rows.length && timeAt(after) === timeAt(place)) after++;
    return before > 0 && place - before <= after - place ? before : after;
  };
  return { rows, boundary };
}

/** The earliest rows train, the latest test; rows of the same time stay together. Rows without a time are left out. */
export function assignInOrder(times: Float64Array, strata: Int32Array, shares: Shares): Uint8Array {
  const splits = new Uint8Array(times.length).fill(leftOut);
  const { rows, boundary } = inOrder(times, strata);
  const train = boundary(Math.round(rows.length * shares[0]));
  const validation = shares[2] === 0 ? rows.length : boundary(Math.round(rows.length * (shares[0] + shares[1])));
  rows.forEach((row, index) => (splits[row] = index < train ? 0 : index < validation ? 1 : 2));
  return splits;
}

/**
 * The rows in the order of time are cut into one block more than there are folds. A fold tests its block and learns from all that came
 * before; what comes after is left out, and the first block is never tested.
 */
export function assignFoldInOrder(times: Float64Array, strata: Int32Array, shares: Shares, fold: Fold): Uint8Array {
  const { rows, boundary } = inOrder(times, strata);
  const endOf = (block: number): number => boundary(Math.round((rows.length * block) / (fold.of + 1)));
  const [start, end] = [endOf(fold.number), endOf(fold.number + 1)];
  const places = new Int32Array(times.length).fill(-1);
  rows.forEach((row, place) => (places[row] = place < end ? place : -1));
  return splitsOfFold(
    strata.map((stratum, row) => ((places[row] ?? -1) < 0 ? -1 : stratum)),
    (row) => (places[row] ?? -1) >= start,
    (rest) => assignInOrder(times, rest, sharesOfRest(shares)),
  );
}

/**
 * Whole groups to folds; the groups of the others train and validate. No group stands in two splits. A fold that does not say how groups
 * are dealt out is of an earlier version, and keeps its rows.
 */
export function assignGroupFold(
  keys: Float64Array,
  strata: Int32Array,
  shares: Shares,
  seed: number,
  { number, of, dealt }: Fold,
): Uint8Array {
  const folds = dealt === 'by class' ? stratifiedFolds(keys, strata, of, seed) : foldsByRows(keys, strata, of, seed);
  return splitsOfFold(
    strata,
    (row) => folds[row] === number,
    (rest) => assignGroups(keys, rest, sharesOfRest(shares), seed),
  );
}

/** The fold of each row, from 1, each group in that which lacks most rows. */
const foldsByRows = (keys: Float64Array, strata: Int32Array, of: number, seed: number): Int32Array =>
  Int32Array.from(assignGroups(keys, strata, new Array<number>(of).fill(1 / of), seed, 'folds'), (split) =>
    split === leftOut ? 0 : split + 1,
  );

/**
 * Whole groups, in an order drawn by the seed, each to the split that lacks most rows; no split with a share stays empty. A
 * row without a group is a group of its own.
 * @throws InputError if there are fewer groups than splits.
 */
export function assignGroups(
  keys: Float64Array,
  strata: Int32Array,
  shares: readonly number[],
  seed: number,
  called: 'splits' | 'folds' = 'splits',
): Uint8Array {
  const { groups, usable } = groupsOf(keys, strata);
  const wanted = shares.map((share, split) => ({ split, share, lacks: share * usable, rows: 0 }));
  const used = wanted.filter(({ share }) => share > 0);
  const drawn = drawnGroups(groups, used.length, seed, called).map((rows) => ({ rows }));
  const splits = new Uint8Array(keys.length).fill(leftOut);
  drawn.forEach(({ rows }, index) => {
    const empty = used.filter((split) => split.rows === 0);
    const candidates = empty.length >= drawn.length - index ? empty : used;
    const chosen = candidates.reduce((best, other) => (other.lacks > best.lacks ? other : best));
    chosen.lacks -= rows.length;
    chosen.rows += rows.length;
    for (const row of rows) splits[row] = chosen.split;
  });
  return splits;
}
