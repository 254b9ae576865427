// From a stored table to typed columns: settles what counts as missing, tells each column's type, and draws what a person
// sees of it. Measured once, at import; a change of settings measures only what it changes.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, ColumnType, DataWarning } from '../../protocol/data.ts';
import { queryColumns } from '../database.ts';
import { quoteName } from '../sql.ts';
import { isNumeric, measure, missingSpellings, numberFacts, picture, textFacts } from './measure.ts';
import type { Measures, NumberFacts, TextFacts } from './measure.ts';
import { certainMissing, isNumber, pointStyle, possibleMissing, sniffDateFormat } from './spelling.ts';
import type { StoredColumn } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { inferType, settleMissing, short, show } from './typing.ts';
import type { ColumnFacts } from './typing.ts';

const missingWords = [...certainMissing, ...possibleMissing];
/** Rows from which formats of text are told. */
const sampleRows = 5000;

/** A column with everything found out about it; plain JSON, kept with the dataset. */
export interface AnalysedColumn {
  readonly stored: StoredColumn;
  /** As inferred at import. */
  readonly info: ColumnInfo;
}

/** Types and profiles of all columns, and what there is to warn about. */
export async function analyse(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
): Promise<{ readonly columns: readonly AnalysedColumn[]; readonly warnings: readonly DataWarning[] }> {
  const settled = await settleNumbers(connection, table, await settleTexts(connection, table, columns));
  const natural = settled.map(({ column }) => ({ column, type: naturalType(column) }));
  const wholeNames = new Set(settled.filter(({ number }) => number?.whole === true).map(({ column }) => column.name));
  const measures = await measure(
    connection,
    table,
    natural,
    ({ name, storage }) => storage === 'VARCHAR' || wholeNames.has(name),
  );
  const facts = await gatherFacts(connection, table, settled, measures);
  const warnings: DataWarning[] = [];
  const typed = settled.map(({ column }, index) => {
    const inferred = inferType(column, facts[index] as ColumnFacts);
    warnings.push(...factWarnings(column, inferred.type, facts[index] as ColumnFacts));
    return { column, ...inferred, measures: measures[index] as Measures };
  });
  const infos = await describeColumns(connection, table, typed);
  return {
    columns: settled.map(({ column }, index) => ({ stored: column, info: infos[index] as ColumnInfo })),
    warnings,
  };
}

/** A column whose type is known; `measures` may be those of its natural type. */
export interface ColumnToDescribe {
  readonly column: StoredColumn;
  readonly type: ColumnType;
  readonly reason: string;
  readonly overridden?: boolean;
  readonly measures?: Measures;
}

/** The profile of columns whose types are settled. */
export async function describeColumns(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly ColumnToDescribe[],
): Promise<ColumnInfo[]> {
  const known = columns.map(({ column, type, measures }) =>
    measures !== undefined && sameValues(naturalType(column), type, measures) ? measures : undefined,
  );
  const unknown = columns.filter((_, index) => known[index] === undefined);
  const measured = await measure(connection, table, unknown);
  let next = 0;
  const complete = columns.map((one, index) => ({ ...one, measures: known[index] ?? (measured[next++] as Measures) }));
  const pictures = await picture(connection, table, complete);
  return complete.map(({ column, type, reason, overridden = false, measures }, index): ColumnInfo => {
    const { count, distinct, minimum, maximum, mean, deviation } = measures;
    const moments = isNumeric(type) && count > 0 ? { minimum, maximum, mean, deviation } : {};
    return {
      name: column.name,
      type,
      reason,
      overridden,
      missing: table.rows - count,
      distinct,
      ...moments,
      ...pictures[index],
    };
  });
}

/** The type that reads a column as it is stored. */
function naturalType(column: StoredColumn): ColumnType {
  switch (column.storage) {
    case 'DOUBLE':
      return 'number';
    case 'BOOLEAN':
      return 'boolean';
    case 'TIMESTAMP':
      return 'datetime';
    case 'VARCHAR':
      return 'text';
    default:
      return column.storage satisfies never;
  }
}

/** Whether a column's values count the same when read as `type` as they did in their natural type. */
function sameValues(natural: ColumnType, type: ColumnType, { distinct, minimum, maximum }: Measures): boolean {
  const isText = type === 'category' || type === 'text' || type === 'identifier';
  if (type === 'boolean' && natural === 'number') return distinct === 2 && minimum === 0 && maximum === 1;
  return natural === type || (isText && (natural === 'text' || natural === 'number'));
}

interface SettledColumn {
  readonly column: StoredColumn;
  readonly sample: readonly string[];
  readonly dateTitle?: string;
  readonly note?: string;
  readonly number?: NumberFacts;
}

/** Finds out which number columns are finite, and which hold whole numbers. */
async function settleNumbers(
  connection: DuckDBConnection,
  table: MeasuredTable,
  settled: readonly SettledColumn[],
): Promise<SettledColumn[]> {
  const numbers = settled.filter(({ column }) => column.storage === 'DOUBLE');
  const facts = await numberFacts(
    connection,
    table,
    numbers.map(({ column }) => column),
  );
  return settled.map((one): SettledColumn => {
    const number = facts[numbers.indexOf(one)];
    return number === undefined ? one : { ...one, column: { ...one.column, finite: number.finite }, number };
  });
}

/** Settles for text columns which spellings mean "missing" and whether the values look like dates. */
async function settleTexts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
): Promise<SettledColumn[]> {
  const texts = columns.filter((column) => column.storage === 'VARCHAR');
  if (texts.length === 0) return columns.map((column) => ({ column, sample: [] }));
  const found: ReadonlyMap<string, number>[] = [];
  for (const column of texts) found.push(await missingSpellings(connection, table, column, missingWords));
  const names = texts.map((column) => quoteName(column.name)).join(', ');
  const rows = await queryColumns(connection, `SELECT ${names} FROM ${table.sample} LIMIT ${sampleRows}`);
  return columns.map((column): SettledColumn => {
    const index = texts.indexOf(column);
    if (index < 0) return { column, sample: [] };
    const values = new Set(rows[index]?.map((value) => String(value ?? '')));
    values.delete('');
    const spelled = found[index] ?? new Map<string, number>();
    const present = [...values].filter((value) => !spelled.has(value));
    const { missing, note } = settleMissing(spelled, present);
    const sample = [...values].filter((value) => !missing.includes(value));
    const date = sniffDateFormat(sample);
    const settled = { ...column, missing, ...(date?.format === undefined ? {} : { dateFormat: date.format }) };
    return {
      column: settled,
      sample,
      ...(date === null ? {} : { dateTitle: date.title }),
      ...(note === undefined ? {} : { note }),
    };
  });
}

/** Share of a sample that has to be numbers for the whole column to be looked at. */
const numberCandidate = 0.8;

async function gatherFacts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  settled: readonly SettledColumn[],
  measures: readonly Measures[],
): Promise<ColumnFacts[]> {
  const texts = settled.filter(({ column }) => column.storage === 'VARCHAR');
  const results = await textFacts(
    connection,
    table,
    texts.map(({ column, sample, dateTitle }) => ({
      column,
      maybeNumbers: sample.filter((value) => isNumber(value, pointStyle)).length >= sample.length * numberCandidate,
      maybeDates: dateTitle !== undefined,
    })),
  );
  return settled.map((one, index): ColumnFacts => {
    const { sample, number, dateTitle, note } = one;
    const text: TextFacts | undefined = results[texts.indexOf(one)];
    return {
      rows: table.rows,
      first: index === 0,
      measures: measures[index] as Measures,
      sample,
      ...(number === undefined ? {} : { number }),
      ...(text === undefined ? {} : { text }),
      ...(dateTitle === undefined ? {} : { dateTitle }),
      ...(note === undefined ? {} : { missingNote: note }),
    };
  });
}

function factWarnings({ name, storage }: StoredColumn, type: ColumnType, facts: ColumnFacts): DataWarning[] {
  const warnings: DataWarning[] = [];
  const infinite = facts.number?.infinite ?? 0;
  if (infinite > 0) {
    warnings.push({
      code: 'infinite',
      message: `${name} holds ${show(infinite)} infinite ${infinite === 1 ? 'value: it is' : 'values: they are'} treated as missing.`,
      columns: [name],
    });
  }
  const others = facts.measures.count - (facts.text?.numbers ?? 0);
  if (storage === 'VARCHAR' && type === 'number' && others > 0) {
    const examples = facts.sample.filter((value) => Number.isNaN(Number(value))).slice(0, 3);
    const named = examples.length === 0 ? '' : ` (${examples.map((value) => `"${short(value)}"`).join(', ')})`;
    warnings.push({
      code: 'not_numbers',
      message: `${name} holds ${show(others)} ${others === 1 ? 'value that is no number' : 'values that are no numbers'}${named}: treated as missing.`,
      columns: [name],
    });
  }
  return warnings;
}
