// Measuring columns: counts and moments in one pass over the table for many columns at once, then distribution pictures.
// Everything is computed by DuckDB; only results come back.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, ColumnType } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import type { SqlValue } from '../database.ts';
import { numericValue, typedValue } from './stored.ts';
import type { StoredColumn } from './stored.ts';
import { quoteName } from '../sql.ts';

/** A column read as one type. */
export interface TypedColumn {
  readonly column: StoredColumn;
  readonly type: ColumnType;
}

/** Counts and moments of a column; numbers in their unit, times in milliseconds since 1970. Missing values don't count. */
export interface Measures {
  readonly count: number;
  /** Different values; an estimate (± 2 %) unless `exact`. */
  readonly distinct: number;
  readonly exact: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly mean?: number;
  /** Standard deviation of the sample. */
  readonly deviation?: number;
}

/** Where the rows are: a table expression with `file_row_number`, and how many rows it has. */
export interface MeasuredTable {
  readonly from: string;
  readonly rows: number;
}

/** Columns measured by one query: keeps the SQL short and its hash tables few. */
const columnsPerQuery = 48;
/** Up to here every distinct value is counted; above, an estimate is refined where it matters. */
const exactRows = 200_000;
/** Estimates up to here are refined to exact counts. */
const refineBelow = 2000;
/** Bins of a histogram. */
const bins = 20;
/** Most frequent values kept. */
const topValues = 20;
/** Medians of longer tables come from this many evenly spread rows. */
const medianRows = 100_000;

export function isNumeric(type: ColumnType): type is 'number' | 'datetime' {
  return type === 'number' || type === 'datetime';
}

/** Runs `work` on groups of columns and joins the results. */
async function inGroups<T, R>(items: readonly T[], work: (group: readonly T[]) => Promise<readonly R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += columnsPerQuery) {
    results.push(...(await work(items.slice(start, start + columnsPerQuery))));
  }
  return results;
}

/** One aggregate query over typed columns `v0`, `v1`, …; each column's aggregates come back under their own names. */
async function aggregate(
  connection: DuckDBConnection,
  table: MeasuredTable,
  values: readonly string[],
  aggregates: (value: string, index: number) => Readonly<Record<string, string>>,
  where = '',
): Promise<Record<string, SqlValue>[]> {
  if (values.length === 0) return [];
  const inner = values.map((value, index) => `${value} AS v${index}`).join(', ');
  const names: (readonly [index: number, name: string, alias: string])[] = [];
  const selected = values.flatMap((_, index) =>
    Object.entries(aggregates(`v${index}`, index)).map(([name, expression]) => {
      const alias = `a${names.length}`;
      names.push([index, name, alias]);
      return `${expression} AS ${alias}`;
    }),
  );
  const [row = {}] = await queryRows(
    connection,
    `SELECT ${selected.join(', ')} FROM (SELECT ${inner} FROM ${table.from} ${where})`,
  );
  const results: Record<string, SqlValue>[] = values.map(() => ({}));
  for (const [index, name, alias] of names) (results[index] as Record<string, SqlValue>)[name] = row[alias] ?? null;
  return results;
}

function valueOf({ column, type }: TypedColumn): string {
  return isNumeric(type) ? numericValue(column, type) : typedValue(column, type);
}

/** Measures columns read as given types. */
export function measure(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly TypedColumn[],
): Promise<Measures[]> {
  return inGroups(columns, async (group) => {
    const exact = table.rows <= exactRows;
    const count = exact ? 'count(DISTINCT' : 'approx_count_distinct(';
    const rows = await aggregate(connection, table, group.map(valueOf), (value, index) => ({
      count: `count(${value})`,
      distinct: `${count} ${value})`,
      ...(isNumeric((group[index] as TypedColumn).type)
        ? {
            minimum: `min(${value})`,
            maximum: `max(${value})`,
            mean: `avg(${value})`,
            deviation: `stddev_samp(${value})`,
          }
        : {}),
    }));
    const measures = rows.map((row, index): Measures => {
      const base = { count: Number(row.count), distinct: Number(row.distinct), exact };
      if (!isNumeric((group[index] as TypedColumn).type) || base.count === 0) return base;
      const [minimum, maximum, mean] = [Number(row.minimum), Number(row.maximum), Number(row.mean)];
      return { ...base, minimum, maximum, mean, deviation: Number(row.deviation ?? 0) };
    });
    return exact ? measures : refine(connection, table, group, measures);
  });
}

/** Counts exactly where an estimate decides something: few values, or nearly as many as rows. */
async function refine(
  connection: DuckDBConnection,
  table: MeasuredTable,
  group: readonly TypedColumn[],
  measures: readonly Measures[],
): Promise<Measures[]> {
  const matters = measures.map(
    ({ count, distinct }, index) =>
      distinct <= refineBelow || (distinct > count * 0.9 && (group[index] as TypedColumn).column.storage === 'VARCHAR'),
  );
  const chosen = group.filter((_, index) => matters[index]);
  const rows = await aggregate(connection, table, chosen.map(valueOf), (value) => ({
    distinct: `count(DISTINCT ${value})`,
  }));
  let next = 0;
  return measures.map((one, index) =>
    matters[index]
      ? { ...one, distinct: Number(rows[next++]?.distinct), exact: true }
      : { ...one, distinct: Math.min(one.distinct, one.count) },
  );
}

/** What a person sees of a column's values. */
export type Picture = Pick<ColumnInfo, 'median' | 'histogram' | 'top'>;

/** Histograms and medians of numbers and times, most frequent values of everything else. */
export async function picture(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly (TypedColumn & { readonly measures: Measures })[],
): Promise<Picture[]> {
  const numeric = columns.filter(({ type, measures }) => isNumeric(type) && measures.count > 0);
  const numericPictures = await inGroups(numeric, (group) => pictureNumbers(connection, table, group));
  const pictures: Picture[] = [];
  for (const column of columns) {
    const index = numeric.indexOf(column);
    if (index >= 0) pictures.push(numericPictures[index] as Picture);
    else if (isNumeric(column.type)) pictures.push({});
    else pictures.push({ top: await topOf(connection, table, column) });
  }
  return pictures;
}

async function pictureNumbers(
  connection: DuckDBConnection,
  table: MeasuredTable,
  group: readonly (TypedColumn & { readonly measures: Measures })[],
): Promise<Picture[]> {
  const values = group.map(valueOf);
  const counted = await aggregate(connection, table, values, (value, index) => {
    const { minimum = 0, maximum = 0 } = (group[index] as { measures: Measures }).measures;
    return { bins: `map_values(histogram(${value}, ${edgeList(minimum, maximum)}))` };
  });
  const step = Math.max(1, Math.ceil(table.rows / medianRows));
  const where = step === 1 ? '' : `WHERE file_row_number % ${step} = 0`;
  const medians = await aggregate(connection, table, values, (value) => ({ median: `median(${value})` }), where);
  return group.map((_, index): Picture => {
    const histogram = (counted[index]?.bins as readonly number[]).slice(0, bins);
    const median = medians[index]?.median;
    return { histogram, ...(median === null ? {} : { median: Number(median) }) };
  });
}

/** Upper edges of the bins; the last is the maximum itself, so that rounding loses no value. */
function edgeList(minimum: number, maximum: number): string {
  const edges = new Set<number>();
  for (let bin = 1; bin < bins; bin++) edges.add(minimum + ((maximum - minimum) * bin) / bins);
  edges.add(maximum);
  return `[${[...edges].map((edge) => `CAST(${edge} AS DOUBLE)`).join(', ')}]`;
}

/** The most frequent values, ties in the order of the values. */
export async function topOf(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, type }: TypedColumn,
  limit = topValues,
): Promise<{ value: string; count: number }[]> {
  const rows = await queryRows(
    connection,
    `SELECT CAST(v AS VARCHAR) AS value, count(*) AS count FROM (SELECT ${typedValue(column, type)} AS v FROM ${table.from})
     WHERE v IS NOT NULL GROUP BY v ORDER BY count DESC, value LIMIT ${limit}`,
  );
  return rows.map((row) => ({ value: String(row.value), count: Number(row.count) }));
}

/** What telling a column's type needs to know besides its measures. */
export interface TextFacts {
  readonly meanLength: number;
  readonly meanWords: number;
  /** Values that are numbers, and that are dates in `dateFormat`. */
  readonly numbers: number;
  readonly dates: number;
}

/** Facts about text columns. */
export function textFacts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  isDateCandidate: (column: StoredColumn) => boolean,
): Promise<TextFacts[]> {
  return inGroups(columns, async (group) => {
    const values = group.map((column) => typedValue(column, 'text'));
    const rows = await aggregate(connection, table, values, (value) => ({
      length: `avg(length(${value}))`,
      words: `avg(length(${value}) - length(replace(${value}, ' ', '')) + 1)`,
    }));
    const numbers = await aggregate(
      connection,
      table,
      group.map((column) => typedValue(column, 'number')),
      (value) => ({
        count: `count(${value})`,
      }),
    );
    const candidates = group.filter(isDateCandidate);
    const dates = await aggregate(
      connection,
      table,
      candidates.map((column) => typedValue(column, 'datetime')),
      (value) => ({
        count: `count(${value})`,
      }),
    );
    return group.map((column, index): TextFacts => {
      const dateIndex = candidates.indexOf(column);
      return {
        meanLength: Number(rows[index]?.length ?? 0),
        meanWords: Number(rows[index]?.words ?? 0),
        numbers: Number(numbers[index]?.count ?? 0),
        dates: dateIndex < 0 ? 0 : Number(dates[dateIndex]?.count ?? 0),
      };
    });
  });
}

/** What telling a number column's type needs to know besides its measures. */
export interface NumberFacts {
  /** Infinite and NaN values; they count as missing. */
  readonly infinite: number;
  readonly whole: boolean;
}

export function numberFacts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
): Promise<NumberFacts[]> {
  return inGroups(columns, async (group) => {
    const values = group.map((column) => quoteName(column.name));
    const rows = await aggregate(connection, table, values, (value) => ({
      infinite: `count(*) FILTER (WHERE isinf(${value}))`,
      whole: `bool_and(${value} = trunc(${value}))`,
    }));
    return rows.map((row) => ({ infinite: Number(row.infinite), whole: row.whole === true }));
  });
}

/** How often each spelling that may mean "missing" stands in each text column, as it is spelled. */
export function missingSpellings(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  words: Iterable<string>,
): Promise<ReadonlyMap<string, number>[]> {
  const list = [...words].map((word) => `'${word}'`).join(', ');
  return inGroups(columns, async (group) => {
    const values = group.map((column) => typedValue({ ...column, missing: [] }, 'text'));
    const rows = await aggregate(connection, table, values, (value) => ({
      words: `map_keys(histogram(${value}) FILTER (WHERE lower(${value}) IN (${list})))`,
      counts: `map_values(histogram(${value}) FILTER (WHERE lower(${value}) IN (${list})))`,
    }));
    return rows.map(({ words: found, counts }) => {
      const spelled = (found ?? []) as readonly string[];
      return new Map(spelled.map((word, index) => [word, (counts as readonly number[])[index] ?? 0]));
    });
  });
}
