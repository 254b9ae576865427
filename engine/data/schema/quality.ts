// What a careful colleague would point out about a table before training on it.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, DataWarning } from '../../protocol/data.ts';
import { queryColumns, queryRows } from '../database.ts';
import type { SqlValue } from '../database.ts';
import { double } from '../sql.ts';
import { columnsAtOnce } from './table.ts';
import type { MeasuredTable } from './table.ts';
import { numericValue, storedCell } from './stored.ts';
import type { Feature, TargetFacts } from './roles.ts';
import { singleFeatureLeaks } from './single-feature.ts';
import { cutTexts } from './text-lengths.ts';
import { short, show } from './typing.ts';

/** A class with fewer rows can hardly be learned or judged. */
const rareClass = 10;
/** The largest class over the smallest: beyond this, accuracy says little. */
const strongImbalance = 20;
/** A feature this closely tied to the target usually is the target in other words. */
const leakCorrelation = 0.999;
/** Of fewer rows any two numbers may lie on a line. */
const leakRows = 10;
/** Features with more values are not tested for telling the class. */
const leakDistinct = 50;
/** Rows a value has to have on average before "it always means the same class" says anything. */
const leakRowsPerValue = 5;
/** Rows that rule out most features before all rows are looked at. */
const leakSampleRows = 500;

/** Warnings that do not depend on the target; `read`: columns of text that models read. */
export function columnWarnings(
  columns: readonly ColumnInfo[],
  target: string | null,
  read: readonly string[] = [],
): DataWarning[] {
  return columns.flatMap((column): DataWarning[] => {
    const { name, distinct, type } = column;
    if (name === target) return [];
    const named = [name];
    if (distinct === 0) return [{ code: 'constant', message: `${name} is empty: it is left out.`, columns: named }];
    if (distinct === 1 && column.missing === 0) {
      return [
        { code: 'constant', message: `${name} has the same value in every row: it is left out.`, columns: named },
      ];
    }
    if (type === 'identifier') {
      return [
        {
          code: 'identifier',
          message: `${name} looks like an identifier (${column.reason}): it is left out, as a model would learn it by heart.`,
          columns: named,
        },
      ];
    }
    if (type === 'text' && !read.includes(name)) {
      return [
        {
          code: 'text',
          message: `${name} is text and is left out. Use it, and a linear model or a network learns from its words.`,
          columns: named,
        },
      ];
    }
    const tooLong = type === 'text' && column.lengths ? cutTexts(name, column.lengths.characters.maximum) : null;
    return tooLong ? [tooLong] : [];
  });
}

/** Classes that are rare or far apart in number. */
export function classWarnings({ info, classes }: TargetFacts): DataWarning[] {
  const warnings: DataWarning[] = [];
  const rare = classes.filter(({ count }) => count < rareClass);
  if (rare.length > 0) {
    const listed = rare.slice(0, 5).map(({ name, count }) => `${short(name)} (${count})`);
    warnings.push({
      code: 'rare_class',
      message: `${rare.length === 1 ? 'A class of' : `${rare.length} classes of`} ${info.name} ${rare.length === 1 ? 'has' : 'have'} fewer than ${rareClass} rows: ${listed.join(', ')}${rare.length > 5 ? ' …' : ''}.`,
      columns: [info.name],
    });
  }
  const largest = classes[0];
  const smallest = classes.at(-1);
  if (largest !== undefined && smallest !== undefined && largest.count > smallest.count * strongImbalance) {
    warnings.push({
      code: 'imbalance',
      message: `${info.name} is unbalanced: ${show(largest.count)} rows of ${short(largest.name)}, ${show(smallest.count)} of ${short(smallest.name)}. Balanced class weights help, and balanced accuracy tells more than accuracy.`,
      columns: [info.name],
    });
  }
  return warnings;
}

/** Columns that give the target away. */
export async function leakWarnings(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<DataWarning[]> {
  const found =
    target.task === 'regression'
      ? await correlationLeaks(connection, table, target, features)
      : await classLeaks(connection, table, target, features);
  const known = new Set(found.flatMap(({ columns = [] }) => columns));
  const others = features.filter(({ info }) => !known.has(info.name));
  for (const { name, message } of await singleFeatureLeaks(connection, table, target, others)) {
    if (name === null) found.push({ code: 'row_order', message });
    else found.push(leak(name, message));
  }
  return found;
}

async function correlationLeaks(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<DataWarning[]> {
  if (table.rows - target.info.missing < leakRows) return [];
  const numbers = features.filter(
    ({ info }) =>
      info.type === 'number' &&
      (info.deviation ?? 0) > 0 &&
      table.rows - info.missing - target.info.missing >= leakRows,
  );
  if (numbers.length === 0 || target.info.type !== 'number') return [];
  const value = numericValue(target.column, 'number');
  const selected = numbers.map(
    ({ column, info }, index) =>
      `corr(${centred(numericValue(column, 'number'), info)}, ${centred(value, target.info)}) AS c${index}`,
  );
  const row = await selectOne(connection, selected, table.from);
  return numbers.flatMap(({ info }, index): DataWarning[] => {
    // Rounding may carry it a little beyond 1, and a column without spread has none.
    const correlation = Math.max(-1, Math.min(1, Number(row[`c${index}`] ?? 0)));
    if (!(Math.abs(correlation) > leakCorrelation)) return [];
    return [
      leak(info.name, `${info.name} gives ${target.info.name} away: their correlation is ${correlation.toFixed(4)}.`),
    ];
  });
}

/** SQL for a value in deviations from its mean: as it stands, a large offset would leave no digits for the differences. */
function centred(value: string, { mean = 0, deviation = 1 }: ColumnInfo): string {
  return `((${value}) - ${double(mean)}) / ${double(deviation > 0 ? deviation : 1)}`;
}

async function classLeaks(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<DataWarning[]> {
  const candidates = features.filter(({ info }) => {
    const present = table.rows - info.missing;
    if (info.type === 'text' || info.type === 'identifier' || info.type === 'datetime') return false;
    if (present < table.rows * 0.9 || present < info.distinct * leakRowsPerValue) return false;
    return info.distinct >= 2 && info.distinct <= leakDistinct;
  });
  // A few rows rule nearly all of them out; what they cannot rule out is counted over all rows.
  const suspects = await notRuledOut(connection, table.sample, target, candidates);
  const found = await withOneClassEach(connection, table.from, target, suspects);
  return found.map(({ info }) => {
    const oneToOne = info.distinct === target.classes.length;
    const how = oneToOne ? 'each of its values stands for one class' : 'each of its values occurs with one class only';
    return leak(info.name, `${info.name} gives ${target.info.name} away: ${how}.`);
  });
}

/** Features that do not show one value with two classes within a few rows. */
async function notRuledOut(
  connection: DuckDBConnection,
  from: string,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<readonly Feature[]> {
  if (features.length === 0) return [];
  const names = [target, ...features].map(({ column }) => storedCell(column));
  const sql = `SELECT ${names.join(', ')} FROM ${from} LIMIT ${leakSampleRows}`;
  const [labels = [], ...columns] = await queryColumns(connection, sql);
  return features.filter((_, index) => {
    const classOf = new Map<SqlValue, SqlValue>();
    return (columns[index] ?? []).every((value, row) => {
      const label = labels[row] ?? null;
      if (value === null || label === null) return true;
      const known = classOf.get(value);
      classOf.set(value, label);
      return known === undefined || known === label;
    });
  });
}

/** Features whose values each occur with a single class: as many pairs of value and class as values. */
async function withOneClassEach(
  connection: DuckDBConnection,
  from: string,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<readonly Feature[]> {
  if (features.length === 0) return [];
  const value = storedCell(target.column);
  const counts = features.map(({ column }, index) => {
    const name = storedCell(column);
    const both = `WHERE ${name} IS NOT NULL AND ${value} IS NOT NULL`;
    return `count(DISTINCT ${name}) FILTER (${both}) = count(DISTINCT hash(${name}, ${value})) FILTER (${both}) AS f${index}`;
  });
  const row = await selectOne(connection, counts, from);
  return features.filter((_, index) => row[`f${index}`] === true);
}

/** One row of many aggregates, some of them at a time. */
async function selectOne(
  connection: DuckDBConnection,
  selected: readonly string[],
  from: string,
): Promise<Readonly<Record<string, SqlValue>>> {
  const parts: Record<string, SqlValue>[] = [];
  for (let start = 0; start < selected.length; start += columnsAtOnce) {
    const some = selected.slice(start, start + columnsAtOnce).join(', ');
    parts.push(...(await queryRows(connection, `SELECT ${some} FROM ${from}`)));
  }
  return Object.assign({}, ...parts) as Record<string, SqlValue>;
}

/** A column that gives the target away, and what to do about it. */
export function leak(
  name: string,
  message: string,
  advice = 'Leave it out unless it is known before the prediction is needed.',
): DataWarning {
  return { code: 'leak', message: `${message} ${advice}`, columns: [name] };
}
