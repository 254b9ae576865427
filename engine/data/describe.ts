// A dataset as a person sees it under their settings: types, target, task, classes and warnings.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../protocol/errors.ts';
import type { ColumnInfo, ColumnType, DatasetInfo, DatasetSettings, DataWarning } from '../protocol/data.ts';
import { columnTypes } from '../settings/dataset.ts';
import { leftOutColumns, noValidationWarning, textColumns, usualSplit } from '../protocol/use.ts';
import { didYouMean } from '../protocol/closest.ts';
import { describeColumns } from './schema/analyse.ts';
import type { AnalysedColumn } from './schema/analyse.ts';
import { copiesWarning } from './schema/copies.ts';
import { obstacleOf, obstacleWarning } from './schema/learnable.ts';
import { topOf } from './schema/measure.ts';
import type { MeasuredTable } from './schema/table.ts';
import { classWarnings, columnWarnings, leakWarnings } from './schema/quality.ts';
import { checkSplitBy } from './schema/split-by.ts';
import { splitWarnings } from './schema/split-warnings.ts';
import { settleTarget } from './schema/target.ts';
import type { StoredColumn } from './schema/stored.ts';

/** Classes listed; more is no classification. */
export const classLimit = 10_000;

/** The parts of a DatasetInfo that settings decide. */
export type Description = Pick<
  DatasetInfo,
  'columns' | 'target' | 'targetReason' | 'task' | 'classes' | 'warnings' | 'settings'
>;

/**
 * What a table is under settings, without what is to be said of it.
 * @throws InputError if the settings name columns or types that do not exist.
 */
export async function settleTable(
  connection: DuckDBConnection,
  table: MeasuredTable,
  analysed: readonly AnalysedColumn[],
  settings: DatasetSettings,
): Promise<Omit<Description, 'warnings'>> {
  checkSettings(analysed, settings);
  const columns = await retype(connection, table, analysed, settings.types ?? {});
  const { target, task, reason } = settleTarget(columns, table.rows, settings);
  checkSplitBy(columns, target, settings);
  const column = analysed.find(({ stored }) => stored.name === target)?.stored;
  const classes =
    task === 'classification' && column !== undefined
      ? await topOf(connection, table, { column, type: 'category' }, classLimit)
      : [];
  const named = classes.map(({ value, count }) => ({ name: value, count }));
  return { columns, target, targetReason: reason, task, settings, classes: named };
}

/** Runs work on another connection to the same database, which goes on beside the first. */
export type Beside = <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>;

/** The same with its warnings. `beside` is for the longest query, which reads the whole table. */
export async function describeTable(
  connection: DuckDBConnection,
  beside: Beside,
  table: MeasuredTable,
  analysed: readonly AnalysedColumn[],
  importWarnings: readonly DataWarning[],
  settings: DatasetSettings,
): Promise<Description> {
  const base = await settleTable(connection, table, analysed, settings);
  const { columns, target, task, classes } = base;
  const ignored = new Set(settings.ignored ?? []);
  const warnings = [
    // Manifests of earlier versions hold copies of whole rows; they are looked for in the columns used.
    ...importWarnings.filter(({ code }) => code !== 'duplicates'),
    ...columnWarnings(
      columns.filter(({ name }) => !ignored.has(name)),
      target,
      textColumns({ columns, target, settings }),
    ),
    ...((settings.split ?? usualSplit)[1] === 0 ? [noValidationWarning()] : []),
  ];
  const stored = analysed.map((column) => column.stored);
  const index = columns.findIndex(({ name }) => name === target);
  if (index < 0 || task === null) return { ...base, warnings };

  const [column, info] = [stored[index] as StoredColumn, columns[index] as ColumnInfo];
  const facts = { column, info, task, classes };
  const unused = new Set(leftOutColumns({ columns, target, settings }).map((left) => left.column));
  const all = columns.map((one, at) => ({ column: stored[at] as StoredColumn, info: one }));
  const others = all.filter(({ info: one }) => one.name !== target);
  // What the model never sees by a person's choice gives nothing away.
  const group = settings.splitBy?.kind === 'group' ? settings.splitBy.column : null;
  const features = others.filter(({ info: one }) => !ignored.has(one.name) && one.name !== group);
  const obstacle = obstacleOf({ rows: table.rows, columns, target, task, classes, settings });
  warnings.unshift(...obstacleWarning(obstacle, target));
  if (obstacle !== null) return { ...base, warnings };
  const { splitBy, split = usualSplit } = settings;
  const by = splitBy && all.find(({ info: one }) => one.name === splitBy.column);
  const findCopies = (on: DuckDBConnection): Promise<DataWarning | null> =>
    copiesWarning(
      on,
      table,
      all.filter(({ info: one }) => !unused.has(one.name)),
      splitBy && by ? { kind: splitBy.kind, by, before: split[0] + split[1] } : null,
    );
  // No other connection sees a table that this one holds.
  const held = table.sample === table.from;
  const copying = held ? null : beside(findCopies);
  // Awaited below; until then its failure is nobody else's business.
  copying?.catch(() => undefined);
  try {
    const leaks = (await leakWarnings(connection, table, facts, features)).filter(
      // Another split than by chance is what it asks for.
      ({ code }) => code !== 'row_order' || settings.splitBy === undefined,
    );
    const copies = await (copying ?? findCopies(connection));
    const used = new Set(features.map(({ info: one }) => one.name).filter((name) => !unused.has(name)));
    const known = new Set(leaks.flatMap(({ columns: named = [] }) => named));
    const bySplit = await splitWarnings(connection, table, {
      target: facts,
      columns: others,
      used,
      settings,
      all: columns,
    });
    warnings.push(
      ...classWarnings(facts),
      ...leaks,
      ...(copies === null ? [] : [copies]),
      // What is said of a column already is not said twice.
      ...bySplit.filter(({ code, columns: [name] = [] }) => code !== 'leak' || name === undefined || !known.has(name)),
    );
    return { ...base, warnings };
  } finally {
    // Nothing looks at the table any more when this ends, however it ends.
    await Promise.allSettled([copying]);
  }
}

function checkSettings(analysed: readonly AnalysedColumn[], settings: DatasetSettings): void {
  const names = analysed.map(({ stored }) => stored.name);
  for (const [name, type] of Object.entries(settings.types ?? {})) {
    requireName(names, name);
    if (!columnTypes.includes(type)) {
      throw new InputError(
        'input.unknown_type',
        `"${String(type)}" is not a column type.`,
        didYouMean(String(type), columnTypes),
      );
    }
  }
  for (const name of [...(settings.ignored ?? []), ...(settings.texts?.columns ?? [])]) requireName(names, name);
}

function requireName(names: readonly string[], name: string): void {
  if (names.includes(name)) return;
  throw new InputError('input.unknown_column', `There is no column "${name}".`, didYouMean(name, names));
}

/** Columns under a person's types; only those that change are measured again. */
async function retype(
  connection: DuckDBConnection,
  table: MeasuredTable,
  analysed: readonly AnalysedColumn[],
  types: Readonly<Record<string, ColumnType>>,
): Promise<ColumnInfo[]> {
  const chosen = new Map(Object.entries(types));
  const changed = analysed.filter(({ stored, info }) => (chosen.get(stored.name) ?? info.type) !== info.type);
  const described = await describeColumns(
    connection,
    table,
    changed.map(({ stored, info }) => ({
      column: stored,
      type: chosen.get(stored.name) as ColumnType,
      reason: `chosen; it looked like ${info.type} (${info.reason})`,
      overridden: true,
    })),
  );
  return analysed.map((column) => {
    const at = changed.indexOf(column);
    if (at >= 0) return described[at] as ColumnInfo;
    return { ...column.info, overridden: chosen.has(column.stored.name) };
  });
}
