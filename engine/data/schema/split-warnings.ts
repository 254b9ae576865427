// What there is to say of how a table is split: by chance, where time or groups may be meant, each with what shows it; by time or
// by group, what leaks all the same.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, DatasetSettings, DataWarning } from '../../protocol/data.ts';
import { usualSplit } from '../../protocol/use.ts';
import { queryRows } from '../database.ts';
import { double } from '../sql.ts';
import { groupLeaks } from './group-leaks.ts';
import type { Feature, TargetFacts } from './roles.ts';
import { splitCandidates } from './split-by.ts';
import { numericValue, typedValue } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { timeLeaks, timeOf } from './time-leaks.ts';
import { short, show } from './typing.ts';

/** A target drifts if what comes last differs by so much: in standard deviations, or in a class's share; and surely. */
const driftDeviations = 0.2;
const driftShare = 0.05;
const driftErrors = 4;
/** Share of what the target varies by that its group tells, beyond chance, from which on it is worth a word. */
const toldShare = 0.05;

/** `columns`: all but the target; `used`: the features. */
export async function splitWarnings(
  connection: DuckDBConnection,
  table: MeasuredTable,
  about: {
    readonly target: TargetFacts;
    readonly columns: readonly Feature[];
    readonly used: ReadonlySet<string>;
    readonly settings: DatasetSettings;
    readonly all: readonly ColumnInfo[];
  },
): Promise<DataWarning[]> {
  const { target, columns, settings, all } = about;
  const featureOf = (name: string): Feature | undefined => columns.find(({ info }) => info.name === name);
  const { splitBy } = settings;
  if (splitBy !== undefined) {
    const by = featureOf(splitBy.column);
    if (by === undefined) return [];
    return splitBy.kind === 'group'
      ? groupLeaks(connection, table, { ...about, group: by })
      : timeLeaks(connection, table, { ...about, time: by, shares: settings.split ?? usualSplit });
  }
  const { time, group } = splitCandidates(all, table.rows, { target: target.info.name, settings });
  const [date, owner] = [featureOf(time[0] ?? ''), featureOf(group[0] ?? '')];
  const warnings: DataWarning[] = [];
  if (date !== undefined) {
    const drift = await driftOf(connection, table, target, date);
    warnings.push({
      code: 'time_split',
      message: `${date.info.name} is a time, and rows are split by chance: the model is tested between rows it learned from, not on later ones.${drift} Split by time if it is to predict what comes.`,
      columns: [date.info.name],
    });
  }
  if (owner !== undefined) {
    const { name, distinct, missing } = owner.info;
    const each = Math.round(((table.rows - missing) / distinct) * 10) / 10;
    const told = await toldBy(connection, table, target, owner);
    warnings.push({
      code: 'group_split',
      message: `Several rows share a ${name} (${show(table.rows - missing)} rows, ${show(distinct)} different ones: ${show(each)} each), and rows are split by chance: the model is tested on ones it learned from.${told} Split by group if it is to predict for new ones.`,
      columns: [name],
    });
  }
  return warnings;
}

/** A sentence with how the target of the latest tenth differs from the others; empty = it does not. */
async function driftOf(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, info, task, classes }: TargetFacts,
  date: Feature,
): Promise<string> {
  const label = task === 'regression' ? numericValue(column, 'number') : typedValue(column, 'category');
  const moments = task === 'regression' ? ', avg(y) AS mean, stddev_samp(y) AS deviation' : '';
  const rows = await queryRows(
    connection,
    `SELECT later, ${task === 'regression' ? "''" : 'y'} AS class, count(*) AS rows${moments}
     FROM (SELECT y, t > quantile_disc(t, 0.9) OVER () AS later
           FROM (SELECT ${label} AS y, ${timeOf(date)} AS t FROM ${table.from}) WHERE y IS NOT NULL AND t IS NOT NULL)
     GROUP BY ALL`,
  );
  const count = (later: boolean, name?: string): number =>
    rows
      .filter((row) => row.later === later && (name === undefined || row.class === name))
      .reduce((sum, row) => sum + Number(row.rows), 0);
  const [before, after] = [count(false), count(true)];
  if (before < 2 || after < 2) return '';
  const drifts = (difference: number, deviation: number, least: number): boolean =>
    Math.abs(difference) > least && Math.abs(difference) > driftErrors * deviation * Math.sqrt(1 / before + 1 / after);
  const begin = ` ${short(info.name)} drifts:`;
  if (task === 'regression') {
    const [early, late] = [false, true].map((later) => rows.find((row) => row.later === later));
    const [first, last] = [Number(early?.mean), Number(late?.mean)];
    const deviation = Number(early?.deviation);
    if (!drifts(last - first, deviation, driftDeviations * deviation)) return '';
    const shown = (value: number): string => show(Number(value.toPrecision(4)));
    return `${begin} ${shown(last)} on average in the latest tenth of the rows, ${shown(first)} before.`;
  }
  const found = classes.slice(0, 20).map(({ name }) => {
    const [first, last] = [count(false, name) / before, count(true, name) / after];
    return { name, first, last, drifts: drifts(last - first, Math.sqrt(first * (1 - first)), driftShare) };
  });
  const [most] = found
    .filter((one) => one.drifts)
    .sort((one, other) => Math.abs(other.last - other.first) - Math.abs(one.last - one.first));
  if (most === undefined) return '';
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return `${begin} ${percent(most.last)} ${short(most.name)} in the latest tenth of the rows, ${percent(most.first)} before.`;
}

/**
 * A sentence with how much of what the target varies by its group tells, less what as many groups would by chance: of the variance,
 * or of Gini's index.
 */
async function toldBy(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, info, task }: TargetFacts,
  group: Feature,
): Promise<string> {
  const values = task === 'regression';
  const label = values ? centredValue(numericValue(column, 'number'), info) : typedValue(column, 'category');
  const from = `(SELECT ${typedValue(group.column, 'category')} AS g, ${label} AS y FROM ${table.from})`;
  const known = 'WHERE g IS NOT NULL AND y IS NOT NULL';
  const sql = values
    ? `SELECT sum(n) AS rows, count(*) AS groups, sum(q) AS all_squares, sum(s) AS total, sum(s * s / n) AS told
       FROM (SELECT count(*) AS n, sum(y) AS s, sum(y * y) AS q FROM ${from} ${known} GROUP BY g)`
    : `WITH cells AS (SELECT g, y, count(*) AS n FROM ${from} ${known} GROUP BY ALL)
       SELECT (SELECT sum(n) FROM cells) AS rows, (SELECT count(DISTINCT g) FROM cells) AS groups,
         (SELECT sum(s * s) FROM (SELECT sum(n)::DOUBLE AS s FROM cells GROUP BY y)) AS of_classes,
         (SELECT sum(squares / n) FROM (SELECT sum(n * n)::DOUBLE AS squares, sum(n) AS n FROM cells GROUP BY g)) AS told`;
  const [row = {}] = await queryRows(connection, sql);
  const [rows, groups] = [Number(row.rows ?? 0), Number(row.groups ?? 0)];
  if (rows <= groups || groups < 2) return '';
  const total = values ? Number(row.all_squares) - Number(row.total) ** 2 / rows : rows - Number(row.of_classes) / rows;
  const left = values ? Number(row.all_squares) - Number(row.told) : rows - Number(row.told);
  if (!(total > 0)) return '';
  const told = 1 - (left * (rows - 1)) / (total * (rows - groups));
  if (told < toldShare) return '';
  return ` Knowing ${short(group.info.name)} tells ${Math.min(100, Math.round(told * 100))} % of how ${short(info.name)} varies.`;
}

/** SQL for a value less its mean: large ones would leave no digits for the squares. */
const centredValue = (value: string, { mean = 0 }: ColumnInfo): string => `((${value}) - ${double(mean)})`;
