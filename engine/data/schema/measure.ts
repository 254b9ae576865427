// Measuring columns: counts and moments in one pass over the table for many columns at once, then distribution pictures.
// Everything is computed by DuckDB; only results come back. Pictures and medians of long tables come from an even sample
// of their rows; counts, extremes, means and deviations are always those of all rows.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, ColumnType } from '../../protocol/data.ts';
import { queryRows, readNumbers } from '../database.ts';
import { drawNumbers } from './histogram.ts';
import { quoteName, quoteText } from '../sql.ts';
import { aggregate, columnsPerQuery, inGroups } from './aggregate.ts';
import { packedFormat } from './dates.ts';
import { countDistinct, nearlyAll } from './distinct.ts';
import type { Distinct } from './distinct-sample.ts';
import { largestNumber } from './numbers.ts';
import { numericValue, storedCell, typedValue } from './stored.ts';
import type { StoredColumn } from './stored.ts';
import type { NumberMoments } from './moments.ts';
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

/** Up to here every distinct value is counted. */
const exactRows = 50_000;
/** Most frequent values kept. */
const topValues = 20;

export function isNumeric(type: ColumnType): type is 'number' | 'datetime' {
  return type === 'number' || type === 'datetime';
}

function valueOf({ column, type }: TypedColumn): string {
  return isNumeric(type) ? numericValue(column, type) : typedValue(column, type);
}

/** Measures columns read as given types. */
export function measure(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly TypedColumn[],
  decides: (column: StoredColumn) => boolean = () => true,
): Promise<Measures[]> {
  return inGroups(columns, async (group) => {
    const exact = table.rows <= exactRows;
    const values = group.map(valueOf);
    const known = group.map((one) => knownMoments(table, one));
    const measured = await aggregate(connection, table.from, values, (value, index) => ({
      ...(known[index] ? {} : { count: `count(${value})` }),
      ...(exact && known[index]?.different?.exact !== true ? { distinct: `count(DISTINCT ${value})` } : {}),
      ...(isNumeric((group[index] as TypedColumn).type) && !known[index]
        ? { mean: `avg(${value})`, deviation: `stddev_samp(${value})` }
        : {}),
    }));
    // Asked for alone, extremes come from the Parquet file's statistics.
    const extremes = await aggregate(connection, table.from, values, (value, index) =>
      isNumeric((group[index] as TypedColumn).type) && !known[index]
        ? { minimum: `min(${value})`, maximum: `max(${value})` }
        : {},
    );
    const rows = measured.map((row, index): Record<string, unknown> => ({
      ...row,
      ...extremes[index],
      ...known[index],
    }));
    const counts = rows.map((row) => Number(row.count));
    const settled = group.map(({ column }, index) => settledDistinct(known[index], exact, decides(column)));
    const different = await inRest(settled, async (open) => {
      if (exact) return open.map((index) => ({ distinct: Number(rows[index]?.distinct), exact }));
      const [some, numbers] = [
        open.map((index) => values[index] as string),
        open.map((index) => counts[index] as number),
      ];
      return countDistinct(connection, table, some, numbers, (at) =>
        decides((group[open[at] as number] as TypedColumn).column),
      );
    });
    return rows.map((row, index): Measures => {
      const { distinct, exact: counted } = different[index] as Distinct;
      const count = counts[index] as number;
      const base = { count, distinct: Math.min(count, distinct), exact: counted };
      if (!isNumeric((group[index] as TypedColumn).type) || count === 0) return base;
      const [minimum, maximum] = [Number(row.minimum), Number(row.maximum)];
      return { ...base, minimum, maximum, mean: Number(row.mean), deviation: Number(row.deviation ?? 0) };
    });
  });
}

/** Moments of a column that are known already, if it is read as it is stored. */
function knownMoments({ numbers }: MeasuredTable, { column, type }: TypedColumn): NumberMoments | undefined {
  const isStored = type === 'number' && column.storage === 'DOUBLE' && column.finite === true;
  return isStored ? numbers?.get(column.name) : undefined;
}

/** Different values that were counted already and are as exact as they have to be: see `countDistinct`. */
function settledDistinct(known: NumberMoments | undefined, exact: boolean, decides: boolean): Distinct | null {
  const different = known?.different ?? null;
  if (known === undefined || different === null || different.exact) return different;
  return exact || (decides && different.distinct > known.count * nearlyAll) ? null : different;
}

/** Fills the places that are null by `work`, which gets their indices. */
async function inRest<T>(
  found: readonly (T | null)[],
  work: (open: readonly number[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const open = [...found.keys()].filter((index) => found[index] === null);
  const rest = open.length === 0 ? [] : await work(open);
  return found.map((one, index) => one ?? (rest[open.indexOf(index)] as T));
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
  const read = await readNumbers(connection, table.sample, group.map(valueOf));
  return group.map(({ measures: { count, minimum = 0, maximum = 0 } }, index): Picture => {
    const values = read[index] as Float64Array;
    const { counts, median } = drawNumbers(values, minimum, maximum);
    return { histogram: scaleCounts(counts, count), ...(median === null ? {} : { median }) };
  });
}

/** Counts of a sample as counts of all `total` values. */
function scaleCounts(counts: readonly number[], total: number): number[] {
  const sampled = counts.reduce((sum, count) => sum + count, 0);
  return sampled === total || sampled === 0
    ? [...counts]
    : counts.map((count) => Math.round((count * total) / sampled));
}

/** Characters that are kept of a frequent value that is no name: of texts and identifiers. */
const mostShown = 200;

/** The most frequent values, ties in the order of the values; of texts and identifiers how they begin. */
export async function topOf(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, type }: TypedColumn,
  limit = topValues,
): Promise<{ value: string; count: number }[]> {
  // Grouped as stored, then spelled: spelling each row's value would cost more than counting it.
  const value = typedValue({ ...column, name: 'stored' }, type);
  const shown = type === 'text' || type === 'identifier' ? `left(whole, ${mostShown})` : 'whole';
  const rows = await queryRows(
    connection,
    `SELECT ${shown} AS value, count
     FROM (SELECT CAST(${value} AS VARCHAR) AS whole, sum(copies) AS count
           FROM (SELECT ${quoteName(column.name)} AS stored, count(*) AS copies FROM ${table.from} GROUP BY ALL)
           GROUP BY whole HAVING whole IS NOT NULL)
     ORDER BY count DESC, whole LIMIT ${limit}`,
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
  /** Values that are dates in the other format that may fit. */
  readonly otherDates: number;
  /** Values that say yes or no; 0 if not looked for. */
  readonly booleans: number;
}

export interface TextColumn {
  readonly column: StoredColumn;
  readonly maybeNumbers: boolean;
  readonly maybeDates: boolean;
  readonly maybeBooleans: boolean;
  /** A second date format that fits the sample. */
  readonly otherDateFormat?: string;
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
    const booleans = await countValues(connection, table, group, 'boolean', ({ maybeBooleans }) => maybeBooleans);
    const swapped = group.map(({ column, otherDateFormat, ...one }) => ({
      ...one,
      column: { ...column, ...(otherDateFormat === undefined ? {} : { dateFormat: otherDateFormat }) },
      maybeDates: otherDateFormat !== undefined,
    }));
    const otherDates = await countValues(connection, table, swapped, 'datetime', ({ maybeDates }) => maybeDates);
    return group.map((_, index) => ({
      meanLength: Number(shapes[index]?.length ?? 0),
      meanWords: Number(shapes[index]?.words ?? 0),
      numbers: numbers[index] ?? 0,
      dates: dates[index] ?? 0,
      otherDates: otherDates[index] ?? 0,
      booleans: booleans[index] ?? 0,
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
  /** Values beyond `largestNumber`; they count as missing, too. */
  readonly huge: number;
  /** There is no infinite or huge value and no NaN. */
  readonly finite: boolean;
  readonly whole: boolean;
  readonly minimum: number;
  readonly maximum: number;
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
    const known = group.map(({ name }) => table.numbers?.get(name));
    const read = await aggregate(connection, table.from, values, (value, index) =>
      known[index] ? {} : { minimum: `min(${value})`, maximum: `max(${value})` },
    );
    const extremes = read.map(({ minimum, maximum }, index) => {
      const moments = known[index];
      if (moments === undefined) return { minimum, maximum };
      return moments.count === 0 ? {} : { minimum: moments.minimum, maximum: moments.maximum };
    });
    const finite = extremes.map(
      ({ minimum, maximum }) =>
        Math.abs(Number(minimum ?? 0)) <= largestNumber && Math.abs(Number(maximum ?? 0)) <= largestNumber,
    );
    const unknown = values.filter((_, index) => known[index] === undefined);
    const sampled = await aggregate(connection, table.sample, unknown, whole);
    const open = unknown.filter((_, index) => sampled[index]?.whole !== false);
    const settled = table.sample === table.from ? sampled : await aggregate(connection, table.from, open, whole);
    const odd = values.filter((_, index) => finite[index] !== true);
    const infinite = await aggregate(connection, table.from, odd, (value) => ({
      infinite: `count(*) FILTER (WHERE isinf(${value}))`,
      huge: `count(*) FILTER (WHERE abs(${value}) > ${largestNumber} AND isfinite(${value}))`,
    }));
    return values.map((value, index): NumberFacts => {
      const at = (table.sample === table.from ? unknown : open).indexOf(value);
      return {
        finite: finite[index] === true,
        infinite: Number(infinite[odd.indexOf(value)]?.infinite ?? 0),
        huge: Number(infinite[odd.indexOf(value)]?.huge ?? 0),
        minimum: Number(extremes[index]?.minimum ?? NaN),
        maximum: Number(extremes[index]?.maximum ?? NaN),
        whole: known[index] ? known[index].count > 0 && known[index].whole : settled[at]?.whole === true,
      };
    });
  });
}

/** Years between which a whole number such as 20230114 may be a date. */
const [firstPacked, lastPacked] = [19000101, 21001231];

/** Which columns of whole numbers hold dates such as 20230114 in all rows. */
export async function countPackedDates(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly { readonly column: StoredColumn }[],
  facts: readonly NumberFacts[],
): Promise<readonly boolean[]> {
  const chosen = columns.map((_, index) => {
    const { whole, minimum, maximum } = facts[index] as NumberFacts;
    return whole && minimum >= firstPacked && maximum <= lastPacked;
  });
  const values = columns.filter((_, index) => chosen[index]).map(({ column }) => quoteName(column.name));
  const rows = await aggregate(connection, table.from, values, (value) => ({
    others: `count(${value}) - count(try_strptime(CAST(CAST(${value} AS BIGINT) AS VARCHAR), '${packedFormat}'))`,
  }));
  let next = 0;
  return chosen.map((one) => one && rows[next++]?.others === 0);
}

/** How often each spelling that may mean "missing" stands in text columns, as it is spelled. */
export async function missingSpellings(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  words: readonly string[],
): Promise<ReadonlyMap<string, number>[]> {
  const longest = Math.max(...words.map((word) => word.length));
  const isWord = (value: string): string =>
    `strlen(${value}) <= ${longest} AND lower(${value}) IN (${words.map(quoteText).join(', ')})`;
  const names = columns.map(storedCell);
  // In a table of many columns most have none: one look at many tells which.
  const many = columns.length > columnsPerQuery;
  const looks = many
    ? await inGroups(names, (group) =>
        aggregate(connection, table.from, group, (value) => ({ some: `bool_or(${isWord(value)})` })),
      )
    : [];
  const found: ReadonlyMap<string, number>[] = [];
  for (const [index, name] of names.entries()) {
    if (many && looks[index]?.some !== true) {
      found.push(new Map());
      continue;
    }
    const rows = await queryRows(
      connection,
      `SELECT stored, copies
       FROM (SELECT ${name} AS stored, count(*) AS copies FROM ${table.from} GROUP BY ALL)
       WHERE ${isWord('stored')} ORDER BY stored`,
    );
    found.push(new Map(rows.map(({ stored, copies }) => [String(stored), Number(copies)])));
  }
  return found;
}
