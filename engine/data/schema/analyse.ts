// From a stored table to typed columns: settles what counts as missing, tells each column's type, and draws what a person
// sees of it. Measured once, at import; a change of settings measures only what it changes.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { TextLengths, ColumnInfo, ColumnType, DataWarning } from '../../protocol/data.ts';
import { textLengths } from './text-lengths.ts';
import { queryColumns } from '../database.ts';
import { countPackedDates, isNumeric, measure, missingSpellings, numberFacts, picture, textFacts } from './measure.ts';
import type { Measures, NumberFacts, TextFacts } from './measure.ts';
import { dayComesFirst, isOtherOrder, packedFormat, sniffDateFormats } from './dates.ts';
import type { DateFormat } from './dates.ts';
import { shownDecimal } from './marks.ts';
import {
  isOpen,
  isSpelledNumber,
  largestNumber,
  numberIn,
  otherReading,
  plainSpelling,
  sniffNumberSpelling,
} from './numbers.ts';
import type { DecimalMark, NumberSpelling } from './numbers.ts';
import { certainMissing, possibleMissing } from './spelling.ts';
import type { StoredColumn } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { booleanWords, storedCell } from './stored.ts';
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

/** What was found out about columns. */
export interface Analysis {
  readonly columns: readonly AnalysedColumn[];
  readonly warnings: readonly DataWarning[];
}

/** Types and profiles of columns, and what there is to warn about. `position`: that of the first one in the table. */
export async function analyse(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  decimal: DecimalMark = { mark: '.', certain: false },
  position = 0,
): Promise<Analysis> {
  const read = await settleNumbers(connection, table, await settleTexts(connection, table, columns, decimal));
  const { settled, facts: texts } = await settleDates(connection, table, read, decimal);
  const natural = settled.map(({ column }) => ({ column, type: naturalType(column) }));
  const wholeNames = new Set(settled.filter(({ number }) => number?.whole === true).map(({ column }) => column.name));
  const measures = await measure(
    connection,
    table,
    natural,
    ({ name, storage }) => storage === 'VARCHAR' || wholeNames.has(name),
  );
  const facts = gatherFacts(table, settled, measures, texts, position);
  const warnings: DataWarning[] = [];
  const typed = settled.map(({ column }, index) => {
    const inferred = inferType(column, facts[index] as ColumnFacts);
    warnings.push(...factWarnings(column, inferred.type, facts[index] as ColumnFacts, settled[index] as SettledColumn));
    return { column, ...inferred, measures: measures[index] as Measures };
  });
  const infos = await describeColumns(connection, table, typed);
  return {
    columns: settled.map(({ column }, index) => ({ stored: column, info: infos[index] as ColumnInfo })),
    warnings,
  };
}

/** How the columns of a table spell their values, without measuring them. */
export async function spellColumns(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  decimal: DecimalMark,
): Promise<readonly StoredColumn[]> {
  const read = await settleNumbers(connection, table, await settleTexts(connection, table, columns, decimal));
  const { settled } = await settleDates(connection, table, read, decimal);
  return settled.map(({ column }) => column);
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
  const lengths: (TextLengths | null)[] = [];
  for (const { column, type } of complete) {
    lengths.push(type === 'text' ? await textLengths(connection, table, column) : null);
  }
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
      ...(lengths[index] && { lengths: lengths[index] }),
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
  /** Formats in which the sample has dates, the likeliest first. */
  readonly dates: readonly DateFormat[];
  /** Day and month may be either way round in all rows. */
  readonly ambiguous?: boolean;
  /** The other way in which its numbers may be meant, as nothing tells. */
  readonly otherNumbers?: NumberSpelling;
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
  const packed = await countPackedDates(connection, table, numbers, facts);
  return settled.map((one): SettledColumn => {
    const at = numbers.indexOf(one);
    const number = facts[at];
    if (number === undefined) return one;
    const dateFormat = packed[at] === true ? { dateFormat: packedFormat } : {};
    return { ...one, column: { ...one.column, finite: number.finite, ...dateFormat }, number };
  });
}

/** Settles for text columns which spellings mean "missing" and whether the values look like dates. */
async function settleTexts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  decimal: DecimalMark,
): Promise<SettledColumn[]> {
  const texts = columns.filter((column) => column.storage === 'VARCHAR');
  if (texts.length === 0) return columns.map((column) => ({ column, sample: [], dates: [] }));
  const found = await missingSpellings(connection, table, texts, missingWords);
  const names = texts.map(storedCell).join(', ');
  const rows = await queryColumns(connection, `SELECT ${names} FROM ${table.sample} LIMIT ${sampleRows}`);
  const settled = columns.map((column): SettledColumn => {
    const index = texts.indexOf(column);
    if (index < 0) return { column, sample: [], dates: [] };
    const values = new Set(rows[index]?.map((value) => String(value ?? '')));
    values.delete('');
    const spelled = found[index] ?? new Map<string, number>();
    const present = [...values].filter((value) => !spelled.has(value));
    const { missing, note } = settleMissing(spelled, present);
    const sample = [...values].filter((value) => !missing.includes(value));
    const dates = sniffDateFormats(sample);
    return {
      column: { ...column, missing, ...(dates[0]?.format === undefined ? {} : { dateFormat: dates[0].format }) },
      sample,
      dates,
      ...(note === undefined ? {} : { note }),
    };
  });
  const shown = showDecimal(settled, decimal);
  return settled.map((one) => (one.sample.length === 0 || one.dates.length > 0 ? one : settleSpelling(one, shown)));
}

/** The decimal mark, after a look at numbers in texts where nothing else has shown it. */
function showDecimal(texts: readonly SettledColumn[], decimal: DecimalMark): DecimalMark {
  if (decimal.certain || decimal.shown === true) return decimal;
  const marks = new Set(
    texts
      .filter(({ sample, dates }) => dates.length === 0 && sniffNumberSpelling(sample, decimal) !== null)
      .map(({ sample }) => shownDecimal(sample)),
  );
  marks.delete(null);
  const [mark, second] = marks;
  return mark === undefined || mark === null || second !== undefined ? decimal : { ...decimal, mark, shown: true };
}

/** How a column writes its numbers, and whether they may be meant in another way. */
function settleSpelling(settled: SettledColumn, decimal: DecimalMark): SettledColumn {
  const { column, sample } = settled;
  const numbers = sniffNumberSpelling(sample, decimal);
  const doubtful = !decimal.certain && decimal.shown !== true && isOpen(sample, numbers ?? plainSpelling);
  const other = doubtful ? otherReading(numbers ?? plainSpelling) : null;
  return {
    ...settled,
    column: { ...column, ...(numbers === null ? {} : { numbers }) },
    ...(other === null ? {} : { otherNumbers: other }),
  };
}

/** Share of a sample that has to be numbers for the whole column to be looked at. */
const numberCandidate = 0.5;

/**
 * Gathers the facts about text columns, and lets all rows decide between day/month and month/day. Where they cannot, the
 * other date columns of the table do, or the decimal mark.
 */
async function settleDates(
  connection: DuckDBConnection,
  table: MeasuredTable,
  read: readonly SettledColumn[],
  decimal: DecimalMark,
): Promise<{ readonly settled: SettledColumn[]; readonly facts: readonly (TextFacts | undefined)[] }> {
  const texts = read.filter(({ column }) => column.storage === 'VARCHAR');
  const facts = await textFacts(
    connection,
    table,
    texts.map(({ column, sample, dates }) => ({
      column,
      maybeNumbers:
        sample.filter((value) => isSpelledNumber(value, column.numbers)).length >= sample.length * numberCandidate,
      maybeDates: dates.length > 0,
      maybeBooleans: booleanWords(sample) !== null,
      ...(dates[1]?.format === undefined ? {} : { otherDateFormat: dates[1].format }),
    })),
  );
  const known = texts.flatMap(({ dates, column }, index) => {
    const { dates: first = 0, otherDates = 0 } = facts[index] ?? {};
    if (dates.length === 0 || first === otherDates) return [];
    return [dayComesFirst(first > otherDates ? column.dateFormat : dates[1]?.format)];
  });
  const dayFirst = known.includes(true) ? !known.includes(false) : decimal.mark === ',' && !known.includes(false);
  const settled = read.map((one): SettledColumn => {
    const { dates = 0, otherDates = 0 } = facts[texts.indexOf(one)] ?? {};
    const other = one.dates[1];
    if (other === undefined || !isOtherOrder(one.dates[0]?.format, other.format)) return one;
    const ambiguous = dates === otherDates;
    const swap = ambiguous ? dayFirst && dayComesFirst(other.format) === true : otherDates > dates;
    const chosen = swap ? { ...one, column: { ...one.column, dateFormat: other.format }, dates: [other] } : one;
    return { ...chosen, ambiguous };
  });
  return {
    settled,
    facts: read.map((one) => {
      const found = facts[texts.indexOf(one)];
      return found === undefined ? undefined : { ...found, dates: Math.max(found.dates, found.otherDates) };
    }),
  };
}

function gatherFacts(
  table: MeasuredTable,
  settled: readonly SettledColumn[],
  measures: readonly Measures[],
  texts: readonly (TextFacts | undefined)[],
  position: number,
): ColumnFacts[] {
  return settled.map(({ sample, number, dates, note }, index): ColumnFacts => {
    const text = texts[index];
    const [date] = dates;
    return {
      rows: table.rows,
      first: position + index === 0,
      measures: measures[index] as Measures,
      sample,
      ...(number === undefined ? {} : { number }),
      ...(text === undefined ? {} : { text }),
      ...(date === undefined ? {} : { dateTitle: date.title }),
      ...(note === undefined ? {} : { missingNote: note }),
    };
  });
}

function factWarnings(
  { name, storage, numbers, dateFormat }: StoredColumn,
  type: ColumnType,
  facts: ColumnFacts,
  { ambiguous, dates, otherNumbers }: SettledColumn,
): DataWarning[] {
  const warnings: DataWarning[] = [];
  const { infinite = 0, huge = 0 } = facts.number ?? {};
  const add = (code: string, message: string): number => warnings.push({ code, message, columns: [name] });
  if (infinite > 0) {
    const many = infinite === 1 ? 'value: it is' : 'values: they are';
    add('infinite', `${name} holds ${show(infinite)} infinite ${many} treated as missing.`);
  }
  if (huge > 0) {
    const many = huge === 1 ? 'value' : 'values';
    add(
      'huge',
      `${name} holds ${show(huge)} ${many} beyond ${largestNumber}, too large to compute with: treated as missing.`,
    );
  }
  const others = facts.measures.count - (facts.text?.numbers ?? 0);
  if (storage === 'VARCHAR' && type === 'number' && others > 0) {
    const examples = facts.sample.filter((value) => !isSpelledNumber(value, numbers)).slice(0, 3);
    const named = examples.length === 0 ? '' : ` (${examples.map((value) => `"${short(value)}"`).join(', ')})`;
    const many = others === 1 ? 'value that is no number' : 'values that are no numbers';
    add('not_numbers', `${name} holds ${show(others)} ${many}${named}: treated as missing.`);
  }
  if (storage === 'VARCHAR' && type === 'number' && otherNumbers !== undefined) {
    const example = facts.sample.find((value) => /\d[.,]\d{3}/.test(value)) ?? '';
    const meant = numberIn(example, numbers ?? plainSpelling);
    add(
      'ambiguous_numbers',
      `${name} may have a mark between thousands or before the decimals, as no value tells: "${short(example)}" is read as ${meant}, not as ${numberIn(example, otherNumbers)}. Set the decimal mark if it is meant the other way.`,
    );
  }
  if (type === 'datetime' && ambiguous === true) {
    const title = dates[0]?.title ?? '';
    add(
      'ambiguous_dates',
      `${name} may have the day or the month first, as no value tells: it is read as ${title}. Dates such as 2021-03-04 leave no doubt.`,
    );
  }
  if (storage === 'DOUBLE' && type === 'number' && dateFormat === packedFormat) {
    add(
      'packed_dates',
      `${name} looks like dates written as 20230114: choose date/time as its type to use them as dates.`,
    );
  }
  return warnings;
}
