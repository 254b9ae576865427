// What makes results look better than they are although the split goes by time: dates that come later, the target of later rows
// as a feature, totals that hold the target already, and a test period that says little.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning } from '../../protocol/data.ts';
import { queryColumns, queryRows, type SqlValue } from '../database.ts';
import { leak } from './quality.ts';
import type { Feature, TargetFacts } from './roles.ts';
import { shiftFinder } from './shifts.ts';
import { numericValue, typedValue } from './stored.ts';
import { columnsAtOnce, type MeasuredTable } from './table.ts';
import { short, show } from './typing.ts';

/** Rows that prove anything, and of those the share that has to agree. */
const fewestRows = 20;
const laterShare = 0.9;
/** Rows in the order of time that are looked at, and cells, which bounds them for wide tables. */
const ordered = 16_384;
const cells = 2 ** 21;
/** Columns that are tried as whose rows follow each other. */
const mostKeys = 8;
/** A test split with fewer times, or of less of the whole period, says how a model does then, not later. */
const fewestTimes = 5;
const shortestPeriod = 0.02;

export interface TimeSplit {
  readonly target: TargetFacts;
  readonly time: Feature;
  /** All columns but the target, and of these the features. */
  readonly columns: readonly Feature[];
  readonly used: ReadonlySet<string>;
  readonly shares: readonly [number, number, number];
}

/** What there is to say about a split in the order of `time`. */
export async function timeLeaks(
  connection: DuckDBConnection,
  table: MeasuredTable,
  about: TimeSplit,
): Promise<DataWarning[]> {
  return [
    ...(await laterDates(connection, table, about)),
    ...(await shiftedTargets(connection, table, about)),
    ...(await testPeriod(connection, table, about)),
  ];
}

/** SQL for the time of a row as a number. */
export const timeOf = ({ column, info }: Feature): string =>
  numericValue(column, info.type === 'number' ? 'number' : 'datetime');

/** Dates that lie after the time of nearly all rows, by now more and now less: what happened then was not known yet. */
async function laterDates(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { time, columns, used }: TimeSplit,
): Promise<DataWarning[]> {
  if (time.info.type !== 'datetime') return [];
  const warnings: DataWarning[] = [];
  const dates = columns.filter(({ info }) => info.type === 'datetime' && info.name !== time.info.name);
  for (const { column, info } of dates.filter((one) => used.has(one.info.name))) {
    const [row = {}] = await queryRows(
      connection,
      `SELECT count(d) AS both, count(*) FILTER (d > 0) AS later, quantile_disc(d, 0.5) AS middle,
         quantile_disc(d, 0.95) - quantile_disc(d, 0.05) AS spread
       FROM (SELECT ${numericValue(column, 'datetime')} - ${timeOf(time)} AS d FROM ${table.from}) WHERE d IS NOT NULL`,
    );
    const [both, later, middle, spread] = [row.both, row.later, row.middle, row.spread].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    // The end of a month or of a year is known at its beginning.
    if (both < fewestRows || later < both * laterShare || spread <= middle * 0.15) continue;
    const share = Math.floor((later / both) * 100);
    warnings.push(
      leak(
        info.name,
        `${info.name} lies after ${time.info.name} in ${share} % of the rows, by ${periodText(middle)} in the middle one: what it says was not known then.`,
      ),
    );
  }
  return warnings;
}

/** Features that are the target of a later row, or a total that holds the row's own. */
async function shiftedTargets(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { target, time, columns, used }: TimeSplit,
): Promise<DataWarning[]> {
  const values = target.task === 'regression';
  const features = columns.filter(
    ({ info }) =>
      used.has(info.name) &&
      info.name !== time.info.name &&
      info.distinct > 1 &&
      (values ? info.type === 'number' : info.type !== 'datetime'),
  );
  const keys = columns.filter(
    ({ info: { name, type, distinct } }) =>
      name !== time.info.name &&
      distinct > 1 &&
      distinct * 4 <= table.rows &&
      type !== 'datetime' &&
      type !== 'boolean',
  );
  const limit = Math.max(512, Math.min(ordered, Math.floor(cells / Math.max(1, features.length))));
  const read = (label: string, some: readonly string[]): Promise<SqlValue[][]> =>
    queryColumns(
      connection,
      `SELECT ${[`${timeOf(time)} AS t`, `${label} AS y`, 'file_row_number AS n', ...some].join(', ')} FROM ${table.from}
       WHERE t IS NOT NULL AND y IS NOT NULL ORDER BY t, n LIMIT ${limit}`,
    );
  const valueOf = ({ column }: Feature): string =>
    values ? numericValue(column, 'number') : typedValue(column, 'category');
  const label = valueOf({ column: target.column, info: target.info });
  const chosen = await followers(read, label, keys);
  if (chosen === null) return [];
  const shiftOf = shiftFinder(chosen.labels, chosen.next);
  const warnings: DataWarning[] = [];
  for (let start = 0; start < features.length; start += columnsAtOnce) {
    const group = features.slice(start, start + columnsAtOnce);
    const [, , , ...cellsOf] = await read(label, group.map(valueOf));
    group.forEach(({ info }, index) => {
      const found = shiftOf(cellsOf[index] ?? []);
      if (found === null) return;
      const order = `in the order of ${time.info.name}${chosen.key === null ? '' : `, each ${chosen.key} by itself`}`;
      const what =
        found.kind === 'later'
          ? `it is the ${target.info.name} of ${found.by === 1 ? 'the next row' : `${found.by} rows later`} ${order} (${found.percent} % of ${show(found.rows)} rows)`
          : `it grows by the row's own ${target.info.name} ${order} (${found.percent} % of ${show(found.rows)} rows)`;
      warnings.push(leak(info.name, `${short(info.name)} gives ${short(target.info.name)} away: ${what}.`));
    });
  }
  return warnings;
}

/** Targets, and the row that follows each one; by itself where every time is another, else within the values of a column. Null = none follows. */
async function followers(
  read: (label: string, some: readonly string[]) => Promise<SqlValue[][]>,
  label: string,
  keys: readonly Feature[],
): Promise<{ readonly key: string | null; readonly labels: readonly SqlValue[]; readonly next: Int32Array } | null> {
  const tried = [...keys].sort((one, other) => other.info.distinct - one.info.distinct).slice(0, mostKeys);
  const [times = [], labels = [], , ...owners] = await read(
    label,
    tried.map(({ column }) => typedValue(column, 'category')),
  );
  if (times.length < fewestRows) return null;
  for (const [at, values] of [null, ...owners].entries()) {
    const last = new Map<SqlValue, number>();
    const next = new Int32Array(times.length).fill(-1);
    let same = 0;
    times.forEach((time, row) => {
      const owner = values === null ? '' : (values[row] ?? null);
      if (owner === null) return;
      const before = last.get(owner);
      if (before !== undefined) {
        next[before] = row;
        same += Number(times[before] === time);
      }
      last.set(owner, row);
    });
    if (same * 100 <= times.length && last.size * 2 <= times.length)
      return { key: at === 0 ? null : (tried[at - 1]?.info.name ?? null), labels, next };
  }
  return null;
}

/** A test period that is short beside the time it is to speak for. */
async function testPeriod(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { time, shares }: TimeSplit,
): Promise<DataWarning[]> {
  const { name, type, distinct } = time.info;
  if (shares[2] === 0 || distinct < fewestTimes * 4) return [];
  const [row = {}] = await queryRows(
    connection,
    `SELECT count(DISTINCT t) AS times, count(*) AS rows, max(t) - min(t) AS period, any_value(whole) AS whole
     FROM (SELECT t, quantile_disc(t, ${shares[0] + shares[1]}) OVER () AS start, max(t) OVER () - min(t) OVER () AS whole
           FROM (SELECT ${timeOf(time)} AS t FROM ${table.from}) WHERE t IS NOT NULL)
     WHERE t > start`,
  );
  const [times, rows, period, whole] = [row.times, row.rows, row.period, row.whole].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (rows === 0 || (times >= fewestTimes && period >= whole * shortestPeriod)) return [];
  const length = (span: number): string => (type === 'datetime' ? periodText(span) : show(span));
  const held =
    times < fewestTimes
      ? `${times === 1 ? 'one time' : `${times} different times`} of ${show(distinct)}`
      : `${length(period)} of ${length(whole)}`;
  return [
    {
      code: 'short_test',
      message: `The test split holds ${held} of ${name} (about ${show(rows)} rows): its scores say how a model does then, not how it will do. Cross-validate, so that several periods are tested, or give the test split a larger share.`,
      columns: [name],
    },
  ];
}

/** A span in milliseconds, for people. */
export function periodText(span: number): string {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const units: readonly (readonly [number, string])[] = [
    [365.25 * day, 'year'],
    [day, 'day'],
    [hour, 'hour'],
    [minute, 'minute'],
    [1000, 'second'],
  ];
  const [size, unit] = units.find(([one]) => Math.abs(span) >= 2 * one) ?? [1000, 'second'];
  const count = Math.round(span / size);
  return `${show(count)} ${unit}${count === 1 ? '' : 's'}`;
}
