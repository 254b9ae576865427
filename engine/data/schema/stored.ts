// How the columns of an imported table lie on disk, and how a stored value is read as one of the column types a person
// knows. Numbers, booleans and times are stored as such; everything else keeps the file's own spelling, so that a
// change of type never needs the original file.

import type { ColumnType } from '../../protocol/data.ts';
import { quoteName, quoteText } from '../sql.ts';
import { packedFormat, parsedTime } from './dates.ts';
import { largestNumber, parsedNumber, spellingTitle } from './numbers.ts';
import type { NumberSpelling } from './numbers.ts';

export type StorageType = 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMP' | 'VARCHAR';

export interface StoredColumn {
  readonly name: string;
  readonly storage: StorageType;
  /** VARCHAR: spellings that stand for a missing value, trimmed. A cell of nothing but spaces is stored as NULL. */
  readonly missing: readonly string[];
  /** VARCHAR, of a file read for a model: only empty cells are missing, whatever words mean so in other columns. */
  readonly exact?: true;
  /** VARCHAR: some cells begin or end with spaces. They are stored so; only where a model reads texts do the spaces count (`exactText`). */
  readonly padded?: true;
  /** DOUBLE: there is no NaN and nothing infinite or beyond `largestNumber`, so nothing has to be tested. */
  readonly finite?: boolean;
  /** VARCHAR: format in which the column's values are dates (dates.ts). DOUBLE: `packedFormat`, or none. */
  readonly dateFormat?: string;
  /** VARCHAR: how the column's values are written as numbers, other than plainly. */
  readonly numbers?: NumberSpelling;
  /** VARCHAR: its values are passages of one text, whatever they look like one by one. */
  readonly passages?: true;
  /** DOUBLE: how the file writes the column's numbers, if they have marks. */
  readonly written?: NumberSpelling;
}

/** How a column's numbers are written in its file, other than plainly. */
export function spellingOf({ storage, numbers, written }: StoredColumn): NumberSpelling | undefined {
  if (storage === 'VARCHAR') return numbers;
  return written === undefined || spellingTitle(written) === '' ? undefined : written;
}

export const trueWords = ['true', 'yes', 'y', 't', 'on', '1'] as const;
export const falseWords = ['false', 'no', 'n', 'f', 'off', '0'] as const;

/** Whether a word says yes or no, in any case; undefined = neither. What `booleanValue` says in SQL. */
export function truthOf(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if ((trueWords as readonly string[]).includes(word)) return true;
  return (falseWords as readonly string[]).includes(word) ? false : undefined;
}

const booleanPairs: readonly (readonly [string, string])[] = trueWords.map((word, index) => [
  word,
  falseWords[index] as string,
]);

/** The two words of a yes/no column, as spelled first; null if it is none. */
export function booleanWords(sample: readonly string[]): readonly [string, string] | null {
  const spelled = new Map<string, string>();
  for (const value of sample) {
    const word = value.toLowerCase();
    if (!spelled.has(word)) spelled.set(word, value);
    if (spelled.size > 2) return null;
  }
  const [first, second] = [...spelled.values()];
  if (first === undefined || second === undefined) return null;
  const fits = booleanPairs.some(([yes, no]) => spelled.has(yes) && spelled.has(no));
  return fits ? [first, second] : null;
}

/** SQL for a column read as `type`: DOUBLE, TIMESTAMP, BOOLEAN or VARCHAR; NULL = missing or not of that type. */
export function typedValue(column: StoredColumn, type: ColumnType): string {
  switch (type) {
    case 'number':
      return numberValue(column);
    case 'boolean':
      return booleanValue(column);
    case 'datetime':
      return timeValue(column);
    case 'category':
    case 'text':
    case 'identifier':
      return textValue(column);
    default:
      return type satisfies never;
  }
}

/** SQL for a column read as `type`, as a DOUBLE: booleans 0 and 1, times in milliseconds since 1970. Not for texts. */
export function numericValue(column: StoredColumn, type: 'number' | 'boolean' | 'datetime'): string {
  const value = typedValue(column, type);
  if (type === 'boolean') return `CAST(${value} AS DOUBLE)`;
  return type === 'datetime' ? `CAST(epoch_ms(${value}) AS DOUBLE)` : value;
}

/** SQL for the cells of a column as they are stored, a VARCHAR without the spaces round it: " cat" and "cat" are one category. */
export function storedCell({ name, padded }: Pick<StoredColumn, 'name' | 'padded'>): string {
  return padded === true ? `trim(${quoteName(name)})` : quoteName(name);
}

/** SQL for the text of a VARCHAR column. */
function storedText(column: StoredColumn): string {
  const text = storedCell(column);
  return column.missing.length === 0
    ? text
    : `CASE WHEN ${text} IN ${inList(column.missing)} THEN NULL ELSE ${text} END`;
}

/** SQL for a column read as a text to its last space, as tokenizers see it; NULL where `typedValue` of a text is. */
export function exactText(column: StoredColumn): string {
  if (column.padded !== true) return textValue(column);
  return `CASE WHEN ${storedText(column)} IS NOT NULL THEN ${quoteName(column.name)} END`;
}

/** SQL for a text as it is stored: its spaces with it, NULL where there is nothing else. */
export function storedAs(text: string): string {
  return `CASE WHEN trim(${text}) <> '' THEN ${text} END`;
}

function numberValue(column: StoredColumn): string {
  const name = quoteName(column.name);
  switch (column.storage) {
    case 'DOUBLE':
      return column.finite === true ? name : usable(name);
    case 'BOOLEAN':
      return `CAST(${name} AS DOUBLE)`;
    case 'TIMESTAMP':
      return `CAST(epoch_ms(${name}) AS DOUBLE)`;
    case 'VARCHAR':
      return usable(parsedNumber(storedText(column), column.numbers));
    default:
      return column.storage satisfies never;
  }
}

/** SQL for a number that can be computed with; NaN counts as greater than everything. */
function usable(value: string): string {
  return `CASE WHEN abs(${value}) <= ${largestNumber} THEN ${value} END`;
}

function booleanValue(column: StoredColumn): string {
  const name = quoteName(column.name);
  switch (column.storage) {
    case 'DOUBLE':
      return `CASE ${name} WHEN 1 THEN true WHEN 0 THEN false END`;
    case 'BOOLEAN':
      return name;
    case 'TIMESTAMP':
      return 'CAST(NULL AS BOOLEAN)';
    case 'VARCHAR': {
      const word = `lower(${storedText(column)})`;
      return `CASE WHEN ${word} IN ${inList(trueWords)} THEN true WHEN ${word} IN ${inList(falseWords)} THEN false END`;
    }
    default:
      return column.storage satisfies never;
  }
}

function timeValue(column: StoredColumn): string {
  const name = quoteName(column.name);
  switch (column.storage) {
    case 'DOUBLE':
      if (column.dateFormat === packedFormat) return parsedTime(textValue(column), packedFormat);
      // Numbers as times: seconds since 1970, or milliseconds when they are too large for seconds.
      return `CASE WHEN isfinite(${name}) THEN
        make_timestamp(CAST(${name} * CASE WHEN abs(${name}) < 1e11 THEN 1e6 ELSE 1e3 END AS BIGINT)) END`;
    case 'BOOLEAN':
      return 'CAST(NULL AS TIMESTAMP)';
    case 'TIMESTAMP':
      return name;
    case 'VARCHAR':
      return parsedTime(storedText(column), column.dateFormat);
    default:
      return column.storage satisfies never;
  }
}

function textValue(column: StoredColumn): string {
  const name = quoteName(column.name);
  if (column.storage === 'VARCHAR') return storedText(column);
  if (column.storage !== 'DOUBLE') return `CAST(${name} AS VARCHAR)`;
  // Whole numbers without ".0", so that codes read as they were written.
  return `CASE WHEN NOT isfinite(${name}) THEN NULL
    WHEN ${name} = trunc(${name}) AND abs(${name}) < 1e15 THEN CAST(CAST(${name} AS BIGINT) AS VARCHAR)
    ELSE CAST(${name} AS VARCHAR) END`;
}

function inList(words: readonly string[]): string {
  return `(${words.map(quoteText).join(', ')})`;
}
