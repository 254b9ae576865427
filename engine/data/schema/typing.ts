// What a column is: number, category, date/time, boolean, text or identifier, with the reason a careful colleague would
// give. Pure functions over facts; DuckDB gathered them (measure.ts).

import type { ColumnType } from '../../protocol/data.ts';
import type { Measures, NumberFacts, TextFacts } from './measure.ts';
import { spellingTitle } from './numbers.ts';
import { certainMissing, keepsAsValue } from './spelling.ts';
import { booleanWords } from './stored.ts';
import type { StoredColumn } from './stored.ts';

export interface ColumnFacts {
  readonly rows: number;
  /** It is the first column, where row numbers stand. */
  readonly first: boolean;
  readonly measures: Measures;
  readonly number?: NumberFacts;
  readonly text?: TextFacts;
  /** Some of the column's values. */
  readonly sample: readonly string[];
  /** Title of the date format that the sample has. */
  readonly dateTitle?: string;
  /** How "missing" is spelled, and a word that was kept as a value although it could mean that. */
  readonly missingNote?: string;
}

export interface InferredType {
  readonly type: ColumnType;
  readonly reason: string;
}

/** From here on a column with different values in all rows is taken for an identifier: fewer rows prove nothing. */
const identifierRows = 20;
/** Share of the values that have to be numbers for the rest to count as missing. */
const numberShare = 0.95;
/** The same in a column that has a different value in most rows. */
const mixedShare = 0.5;
/** Share of the rows with a number of their own from which a gapless count numbers rows, some of them copied. */
const countsRows = 0.95;
/** A column with more different words than this, and mostly different ones, is no category. */
const categoryLimit = 100;
/** Characters on average from which on values are no names of anything, however few there are. */
const longestName = 1_000;

const identifierName = /(^|[_\s-])(id|uuid|guid|key|nr|no|code|index)$|^(id|uuid|guid|index|row|unnamed.*)$|Id$|ID$/;
/** Names of quantities, which may well go up by one from row to row. */
const quantityName =
  /^(x|t|time|year|month|week|day|hour|minute|second|step|position|distance|depth|age|size|amount)s?\d*$/i;

/** The type of a column and why. */
export function inferType(column: StoredColumn, facts: ColumnFacts): InferredType {
  const { measures, missingNote } = facts;
  if (column.passages)
    return { type: 'text', reason: `a text, in ${show(facts.rows)} ${facts.rows === 1 ? 'passage' : 'passages'}` };
  if (measures.count === 0) return { type: 'category', reason: 'no values at all' };
  const inferred = inferPresent(column, facts);
  return missingNote === undefined ? inferred : { ...inferred, reason: `${inferred.reason}; ${missingNote}` };
}

function inferPresent(column: StoredColumn, facts: ColumnFacts): InferredType {
  switch (column.storage) {
    case 'BOOLEAN':
      return { type: 'boolean', reason: 'true or false in every row' };
    case 'TIMESTAMP':
      return { type: 'datetime', reason: 'stored as dates or times' };
    case 'DOUBLE':
      return inferNumber(column.name, facts);
    case 'VARCHAR':
      return inferText(column, facts);
    default:
      return column.storage satisfies never;
  }
}

function inferNumber(name: string, facts: ColumnFacts): InferredType {
  const { measures, number, rows } = facts;
  const { count, distinct, minimum = 0, maximum = 0 } = measures;
  const amount = `${show(count)} ${number?.whole === true ? 'whole ' : ''}${count === 1 ? 'number' : 'numbers'}`;
  if (number?.whole === true && distinct === 2 && minimum === 0 && maximum === 1) {
    return { type: 'boolean', reason: 'only 0 and 1' };
  }
  if (number?.whole === true && distinct === count && count === rows && rows >= identifierRows) {
    if (maximum - minimum === rows - 1 && (facts.first || identifierName.test(name)) && !quantityName.test(name)) {
      return { type: 'identifier', reason: `counts the rows, from ${show(minimum)} to ${show(maximum)}` };
    }
    if (identifierName.test(name)) {
      return { type: 'identifier', reason: `${amount}, different in every row, and the name says so` };
    }
  }
  // Copies of some rows carry their numbers with them: the others are counted all the same.
  const copied = number?.whole === true && measures.exact && count === rows && distinct < count;
  if (copied && distinct >= Math.max(identifierRows, rows * countsRows) && maximum - minimum === distinct - 1) {
    if ((facts.first || identifierName.test(name)) && !quantityName.test(name)) {
      const again = `${show(rows - distinct)} that ${rows - distinct === 1 ? 'repeats another' : 'repeat others'}`;
      return {
        type: 'identifier',
        reason: `counts the rows, from ${show(minimum)} to ${show(maximum)}, but for ${again}`,
      };
    }
  }
  const about = measures.exact ? '' : 'about ';
  if (number?.whole === true && distinct <= 20 && distinct < count) {
    return {
      type: 'number',
      reason: `${amount}, ${show(distinct)} of them distinct; choose category if they are codes without an order`,
    };
  }
  return { type: 'number', reason: `${amount}, ${about}${show(distinct)} of them distinct` };
}

function inferText({ numbers }: StoredColumn, facts: ColumnFacts): InferredType {
  const { measures, text, sample, rows, dateTitle } = facts;
  const { count, distinct } = measures;
  const booleans = booleanWords(sample);
  if (booleans !== null && text?.booleans === count) {
    const cases = distinct > 2 ? ' in several spellings' : '';
    return { type: 'boolean', reason: `only "${booleans[0]}" and "${booleans[1]}"${cases}` };
  }
  if (dateTitle !== undefined && text !== undefined && text.dates >= count * 0.99) {
    const rest = count - text.dates;
    return { type: 'datetime', reason: `${dateTitle}${rest > 0 ? `; ${show(rest)} others count as missing` : ''}` };
  }
  const codes = sample.some((value) => /^(0\d+|\d{16,})$/.test(value)) && sample.every((value) => /^\d+$/.test(value));
  const different = distinct / count;
  // Numbers in most rows, not all whole and different, are measurements with remarks, no identifier.
  const measured = sample.some((value) => /\d[.,]\d/.test(value)) || distinct < count;
  const enough = different > 0.5 && distinct > categoryLimit && measured ? mixedShare : numberShare;
  if (!codes && text !== undefined && text.numbers > 0 && text.numbers >= count * enough) {
    const written = numbers === undefined ? '' : spellingTitle(numbers);
    const rest = count - text.numbers;
    if (rest === 0) return { type: 'number', reason: `${show(count)} ${count === 1 ? 'number' : 'numbers'}${written}` };
    const others = `${show(rest)} other ${rest === 1 ? 'value counts' : 'values count'} as missing`;
    return {
      type: 'number',
      reason: `${show(text.numbers)} of ${show(count)} values are numbers${written}; ${others}`,
    };
  }
  const words = text?.meanWords ?? 1;
  const length = text?.meanLength ?? 0;
  if (different > 0.5 && distinct >= identifierRows && (words >= 4 || length > 60)) {
    return { type: 'text', reason: `${show(distinct)} different texts of ${Math.round(words)} words on average` };
  }
  if (length > longestName) {
    return {
      type: 'text',
      reason: `${show(distinct)} ${distinct === 1 ? 'text' : 'different texts'} of ${show(Math.round(length))} characters on average`,
    };
  }
  if (distinct === count && count >= identifierRows && count > rows / 2) {
    if (codes) return { type: 'identifier', reason: 'codes that are different in every row' };
    return { type: 'identifier', reason: 'a different value in every row' };
  }
  if (different > 0.5 && distinct > categoryLimit) {
    return words >= 2
      ? { type: 'text', reason: `${show(distinct)} different texts in ${show(count)} rows, too many for categories` }
      : {
          type: 'identifier',
          reason: `${show(distinct)} different values in ${show(count)} rows: ${different >= nearlyOneARow ? 'nearly one a row' : 'too many for categories'}`,
        };
  }
  if (codes) {
    return {
      type: 'category',
      reason: `codes, not amounts (leading zeros or very long), ${show(distinct)} different ones`,
    };
  }
  return {
    type: 'category',
    reason: `${show(distinct)} different ${distinct === 1 ? 'word' : 'words'} in ${show(count)} rows`,
  };
}

/** Which spellings mean "missing" in a text column, and what to say about those that could but don't. */
export function settleMissing(
  found: ReadonlyMap<string, number>,
  sample: readonly string[],
): { readonly missing: readonly string[]; readonly note?: string } {
  const missing: string[] = [];
  const notes: string[] = [];
  for (const [spelling, count] of found) {
    const kept = keepsAsValue(spelling, sample);
    if (kept === null) missing.push(spelling);
    else notes.push(`"${spelling}" (${show(count)}) is kept as a value: ${kept}`);
  }
  const treated = missing.filter((spelling) => !certainMissing.has(spelling.toLowerCase()));
  if (treated.length > 0) notes.unshift(`${treated.map((spelling) => `"${spelling}"`).join(', ')} read as missing`);
  return { missing, ...(notes.length === 0 ? {} : { note: notes.join('; ') }) };
}

/** Of so many rows each has a value of its own: `nearly one a row` is said of no less. */
const nearlyOneARow = 0.9;

/** A value within a message: its beginning, if it is long. */
export function short(value: string): string {
  return value.length <= 40 ? value : `${value.slice(0, 39)}…`;
}

/** A number for people: 12,345. */
export function show(value: number): string {
  const [whole = '', fraction] = String(Math.round(value * 1e4) / 1e4).split('.');
  if (whole.includes('e')) return String(value);
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
