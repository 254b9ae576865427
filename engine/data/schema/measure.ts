// Measuring columns: counts and moments in one pass over the table for many columns at once, then distribution pictures.
// Everything is computed by DuckDB; only results come back. Pictures and medians of long tables come from an even sample
// of their rows; counts, extremes, means and deviations are always those of all rows.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, ColumnType } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import type { SqlValue } from '../database.ts';
import { quoteName, quoteText } from '../sql.ts';
import { numericValue, typedValue } from './stored.ts';
import type { StoredColumn } from './stored.ts';
import type { MeasuredTable } from './table.ts';

/** A column read as one type. */
export interface TypedColumn {
  readonly column: StoredColumn;
  readonly type: ColumnType;
}

/** Counts and moments of a column; numbers in their unit, times in milliseconds since 1970. Missing values don't count. */
export interface Measures {
  readonly count: number;
  /** Different values; an estimate unless `exact`. */
  readonly distinct: number;
  readonly exact: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly mean?: number;
  /** Standard deviation of the sample. */
  readonly deviation?: number;
}

/** Columns measured by one query: keeps the SQL short and its hash tables few. */
const columnsPerQuery = 64;
/** Up to here every distinct value is counted; above, an estimate is refined where it matters. */
const exactRows = 50_000;
/** Estimates up to here are refined to exact counts. */
const refineBelow = 2000;
/** Bins of a histogram. */
const bins = 20;
/** Most frequent values kept. */
const topValues = 20;

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

/** SQL of aggregates by the names their results get. */
type Aggregates = Readonly<Record<string, string | undefined>>;

/** One aggregate query over expressions `v0`, `v1`, …; each one's aggregates come back under their own names. */
async function aggregate(
  connection: DuckDBConnection,
  from: string,
  values: readonly string[],
  aggregates: (value: string, index: number) => Aggregates,
): Promise<Record<string, SqlValue>[]> {
  if (values.length === 0) return [];
  const inner = values.map((value, index) => `${value} AS v${index}`).join(', ');
  const names: (readonly [index: number, name: string])[] = [];
  const selected = values.flatMap((_, index) =>
    Object.entries(aggregates(`v${index}`, index)).flatMap(([name, expression]) => {
      if (expression === undefined) return [];
      names.push([index, name]);
      return [`${expression} AS a${names.length - 1}`];
    }),
  );
  if (selected.length === 0) return values.map(() => ({}));
  const [row = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM (SELECT ${inner} FROM ${from})`);
  const results = values.map((): [name: string, value: SqlValue][] => []);
  names.forEach(([index, name], at) => results[index]?.push([name, row[`a${at}`] ?? null]));
  return results.map((entries) => Object.fromEntries(entries));
}

function valueOf({ column, type }: TypedColumn): string {
  return isNumeric(type) ? numericValue(column, type) : typedValue(column, type);
}

/**
 * Measures columns read as given types. In a long table the distinct values are counted exactly where `decides` says that
 * the number decides something and it is small or nearly one a row; elsewhere they are estimated.
 */
export function measure(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly TypedColumn[],
  decides: (column: StoredColumn) => boolean = () => true,
): Promise<Measures[]> {
  return inGroups(columns, async (group) => {
    const exact = table.rows <= exactRows;
    const values = group.map(valueOf);
    const looked = group.map(({ column }) => exact || decides(column));
    const rows = await aggregate(connection, table.from, values, (value, index) => ({
      count: `count(${value})`,
      ...(looked[index] === true ? { distinct: distinctCount(value, exact) } : {}),
      ...(isNumeric((group[index] as TypedColumn).type)
        ? { mean: `avg(${value})`, deviation: `stddev_samp(${value})` }
        : {}),
    }));
    // Asked for alone, extremes come from the Parquet file's statistics.
    const extremes = await aggregate(connection, table.from, values, (value, index) =>
      isNumeric((group[index] as TypedColumn).type) ? { minimum: `min(${value})`, maximum: `max(${value})` } : {},
    );
    const sampled = await sampleDistinct(connection, table, values, looked);
    const measures = rows.map((row, index): Measures => {
      const count = Number(row.count);
      const distinct = sampled[index] === undefined ? Number(row.distinct) : extrapolate(sampled[index], count);
      const base = { count, distinct: Math.min(count, distinct), exact };
      if (!isNumeric((group[index] as TypedColumn).type) || count === 0) return base;
      const [minimum, maximum] = [Number(extremes[index]?.minimum), Number(extremes[index]?.maximum)];
      return { ...base, minimum, maximum, mean: Number(row.mean), deviation: Number(row.deviation ?? 0) };
    });
    return exact ? measures : refine(connection, table, group, measures, decides);
  });
}

function distinctCount(value: string, exact: boolean): string {
  return exact ? `count(DISTINCT ${value})` : `approx_count_distinct(${value})`;
}

interface SampledDistinct {
  readonly count: number;
  readonly distinct: number;
}

/** Values and distinct values in the sample, of the columns that were not looked at as a whole. */
async function sampleDistinct(
  connection: DuckDBConnection,
  table: MeasuredTable,
  values: readonly string[],
  looked: readonly boolean[],
): Promise<(SampledDistinct | undefined)[]> {
  const rest = values.filter((_, index) => looked[index] !== true);
  const rows = await aggregate(connection, table.sample, rest, (value) => ({
    count: `count(${value})`,
    distinct: distinctCount(value, false),
  }));
  let next = 0;
  return looked.map((whole) => {
    if (whole) return undefined;
    const row = rows[next++];
    return { count: Number(row?.count ?? 0), distinct: Number(row?.distinct ?? 0) };
  });
}

/**
 * Distinct values among `total`, from those of a sample: if D values are equally likely, n draws find D·(1 − e^(−n/D))
 * of them. Solved for D by bisection.
 */
function extrapolate({ count, distinct }: SampledDistinct, total: number): number {
  if (distinct >= count || distinct === 0) return total;
  const found = (values: number, draws: number): number => values * -Math.expm1(-draws / values);
  let [least, most] = [distinct, 1e12];
  while (most - least > 0.5) {
    const middle = (least + most) / 2;
    if (found(middle, count) < distinct) least = middle;
    else most = middle;
  }
  return Math.round(found(most, total));
}

/** Counts exactly where an estimate decides something: few values, or nearly one a row. */
async function refine(
  connection: DuckDBConnection,
  table: MeasuredTable,
  group: readonly TypedColumn[],
  measures: readonly Measures[],
  decides: (column: StoredColumn) => boolean,
): Promise<Measures[]> {
  const matters = measures.map(
    ({ count, distinct }, index) =>
      distinct <= refineBelow || (distinct > count * 0.8 && decides((group[index] as TypedColumn).column)),
  );
  const chosen = group.filter((_, index) => matters[index]).map(valueOf);
  const rows = await aggregate(connection, table.from, chosen, (value) => ({ distinct: `count(DISTINCT ${value})` }));
  let next = 0;
  return measures.map((one, index) =>
    matters[index] === true ? { ...one, distinct: Number(rows[next++]?.distinct), exact: true } : one,
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
  const rows = await aggregate(connection, table.sample, group.map(valueOf), (value, index) => {
    const { minimum = 0, maximum = 0 } = (group[index] as { measures: Measures }).measures;
    return { bins: `map_values(histogram(${value}, ${edgeList(minimum, maximum)}))`, median: `median(${value})` };
  });
  return rows.map(({ bins: counted, median }, index): Picture => {
    const { count } = (group[index] as { measures: Measures }).measures;
    const histogram = scaleCounts(((counted ?? []) as readonly number[]).slice(0, bins), count);
    return { histogram, ...(median === null || median === undefined ? {} : { median: Number(median) }) };
  });
}

/** Counts of a sample as counts of all `total` values. */
function scaleCounts(counts: readonly number[], total: number): number[] {
  const sampled = counts.reduce((sum, count) => sum + count, 0);
  return sampled === total || sampled === 0
    ? [...counts]
    : counts.map((count) => Math.round((count * total) / sampled));
}

/** Upper edges of the bins; the last is the maximum itself, so that rounding loses no value. */
function edgeList(minimum: number, maximum: number): string {
  const edges = new Set<number>();
  for (let bin = 1; bin < bins; bin++) edges.add(minimum + ((maximum - minimum) * bin) / bins);
  edges.add(maximum);
  return `[${[...edges].map((edge) => `${edge}::DOUBLE`).join(', ')}]`;
}

/** The most frequent values, ties in the order of the values. */
export async function topOf(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, type }: TypedColumn,
  limit = topValues,
): Promise<{ value: string; count: number }[]> {
  // Grouped as stored, then spelled: spelling each row's value would cost more than counting it.
  const value = typedValue({ ...column, name: 'stored' }, type);
  const rows = await queryRows(
    connection,
    `SELECT CAST(${value} AS VARCHAR) AS value, sum(copies) AS count
     FROM (SELECT ${quoteName(column.name)} AS stored, count(*) AS copies FROM ${table.from} GROUP BY ALL)
     GROUP BY value HAVING value IS NOT NULL ORDER BY count DESC, value LIMIT ${limit}`,
  );
  return rows.map((row) => ({ value: String(row.value), count: Number(row.count) }));
}

/** What telling a text column's type needs to know besides its measures. */
export interface TextFacts {
  readonly meanLength: number;
  readonly meanWords: number;
  /** Values that are numbers; 0 if not looked for. */
  readonly numbers: number;
  /** Values that are dates in the column's format; 0 if not looked for. */
  readonly dates: number;
}

export interface TextColumn {
  readonly column: StoredColumn;
  readonly maybeNumbers: boolean;
  readonly maybeDates: boolean;
}

/** Facts about text columns. */
export function textFacts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly TextColumn[],
): Promise<TextFacts[]> {
  return inGroups(columns, async (group) => {
    const texts = group.map(({ column }) => typedValue(column, 'text'));
    const shapes = await aggregate(connection, table.sample, texts, (value) => ({
      length: `avg(length(${value}))`,
      words: `avg(length(${value}) - length(replace(${value}, ' ', '')) + 1)`,
    }));
    const numbers = await countValues(connection, table, group, 'number', ({ maybeNumbers }) => maybeNumbers);
    const dates = await countValues(connection, table, group, 'datetime', ({ maybeDates }) => maybeDates);
    return group.map((_, index) => ({
      meanLength: Number(shapes[index]?.length ?? 0),
      meanWords: Number(shapes[index]?.words ?? 0),
      numbers: numbers[index] ?? 0,
      dates: dates[index] ?? 0,
    }));
  });
}

/** How many values of some columns can be read as `type`; 0 for the other columns. */
async function countValues(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly TextColumn[],
  type: ColumnType,
  chosen: (column: TextColumn) => boolean,
): Promise<number[]> {
  const values = columns.filter(chosen).map(({ column }) => typedValue(column, type));
  const rows = await aggregate(connection, table.from, values, (value) => ({ count: `count(${value})` }));
  let next = 0;
  return columns.map((column) => (chosen(column) ? Number(rows[next++]?.count ?? 0) : 0));
}

/** What telling a number column's type needs to know besides its measures. */
export interface NumberFacts {
  /** Infinite values; they count as missing. */
  readonly infinite: number;
  /** There is neither an infinite value nor NaN. */
  readonly finite: boolean;
  readonly whole: boolean;
}

/** Facts about number columns. The extremes and a sample settle most columns without reading them whole. */
export function numberFacts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
): Promise<NumberFacts[]> {
  return inGroups(columns, async (group) => {
    const values = group.map(({ name }) => quoteName(name));
    const whole = (value: string): { whole: string } => ({ whole: `bool_and(${value} = trunc(${value}))` });
    const extremes = await aggregate(connection, table.from, values, (value) => ({
      minimum: `min(${value})`,
      maximum: `max(${value})`,
    }));
    const finite = extremes.map(
      ({ minimum, maximum }) => Number.isFinite(minimum ?? 0) && Number.isFinite(maximum ?? 0),
    );
    const sampled = await aggregate(connection, table.sample, values, whole);
    const open = values.filter((_, index) => sampled[index]?.whole !== false);
    const settled = table.sample === table.from ? sampled : await aggregate(connection, table.from, open, whole);
    const odd = values.filter((_, index) => finite[index] !== true);
    const infinite = await aggregate(connection, table.from, odd, (value) => ({
      count: `count(*) FILTER (WHERE isinf(${value}))`,
    }));
    return values.map((value, index): NumberFacts => {
      const at = table.sample === table.from ? index : open.indexOf(value);
      return {
        finite: finite[index] === true,
        infinite: finite[index] === true ? 0 : Number(infinite[odd.indexOf(value)]?.count ?? 0),
        whole: settled[at]?.whole === true,
      };
    });
  });
}

/** How often each spelling that may mean "missing" stands in a text column, as it is spelled. */
export async function missingSpellings(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { name }: StoredColumn,
  words: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const longest = Math.max(...words.map((word) => word.length));
  const rows = await queryRows(
    connection,
    `SELECT stored, copies
     FROM (SELECT ${quoteName(name)} AS stored, count(*) AS copies FROM ${table.from} GROUP BY ALL)
     WHERE strlen(stored) <= ${longest} AND lower(stored) IN (${words.map(quoteText).join(', ')}) ORDER BY stored`,
  );
  return new Map(rows.map(({ stored, copies }) => [String(stored), Number(copies)]));
}
