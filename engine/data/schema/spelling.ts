// How numbers and missing values are spelled in text. Pure functions over a sample of values: the import uses them
// to tell DuckDB what to expect, and DuckDB then holds every row to it.

import { shownDecimal } from './marks.ts';

/** Spellings (lower case) that stand for a missing value wherever they appear. */
export const certainMissing: ReadonlySet<string> = new Set([
  '',
  'n/a',
  '#n/a',
  '#n/a n/a',
  '#na',
  '<na>',
  'nan',
  'null',
  '#null!',
  '(null)',
]);

/** Spellings (lower case) that stand for a missing value among numbers, but may be values among words. */
export const possibleMissing: ReadonlySet<string> = new Set([
  'na',
  'none',
  'nil',
  '?',
  '-',
  '--',
  '.',
  '..',
  'missing',
]);

/** Why a spelling that could mean "missing" is a value here; null = it means "missing". */
export function keepsAsValue(spelling: string, sample: readonly string[]): string | null {
  const word = spelling.toLowerCase();
  const others = sample.filter((value) => value.toLowerCase() !== word);
  if (word === 'none' || word === 'nil') return 'among words it usually means "there is none"';
  if (word === '-' && others.includes('+')) return 'it stands beside "+"';
  if (word === 'na' && others.length >= 3 && others.every((value) => /^[A-Z]{2}$/.test(value))) {
    return 'the other values are codes of two letters';
  }
  return null;
}

/** Words (lower case) that mean "missing" in a file of which these values are known. */
export const missingWords = (sample: readonly string[]): readonly string[] =>
  [...certainMissing, ...possibleMissing].filter((word) => word !== '' && keepsAsValue(word, sample) === null);

/** Longer values, with some room for spaces around them, mean something. */
const longestMissing = 16;

export function isMissingWord(value: string): boolean {
  if (value.length > longestMissing) return false;
  const word = value.trim().toLowerCase();
  return certainMissing.has(word) || possibleMissing.has(word);
}

/** How a file writes numbers. */
export interface NumberStyle {
  readonly decimal: '.' | ',';
  /** Mark between groups of three digits; empty = none. */
  readonly thousands: '' | ',' | '.';
}

const plainPoint = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const plainComma = /^[+-]?(\d+,?\d*|,\d+)(e[+-]?\d+)?$/i;
// A group never begins with a zero: 0,020 has a decimal comma.
const groupedPoint = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const groupedComma = /^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/;
const infinite = /^[+-]?inf(inity)?$/i;

export const pointStyle: NumberStyle = { decimal: '.', thousands: '' };
const styles = {
  point: pointStyle,
  comma: { decimal: ',', thousands: '' },
  groupedPoint: { decimal: '.', thousands: ',' },
  groupedComma: { decimal: ',', thousands: '.' },
} as const satisfies Record<string, NumberStyle>;

/** Whether a text is a number in this style; infinities count, missing values do not. */
export function isNumber(value: string, style: NumberStyle): boolean {
  const text = value.trim();
  const [plain, grouped] = style.decimal === '.' ? [plainPoint, groupedPoint] : [plainComma, groupedComma];
  return plain.test(text) || (style.thousands !== '' && grouped.test(text)) || infinite.test(text);
}

/**
 * The style in which most columns of a sample are numbers. Where two do equally well (`1,234` may be either), the file's
 * delimiter decides: files with `;` come from places that write decimal commas.
 */
export function sniffNumberStyle(
  columns: readonly (readonly string[])[],
  delimiter: string,
  decimal?: '.' | ',',
): NumberStyle {
  const commaFirst = delimiter !== ',';
  const order = commaFirst
    ? [styles.point, styles.comma, styles.groupedPoint, styles.groupedComma]
    : [styles.point, styles.groupedPoint, styles.comma, styles.groupedComma];
  let best: NumberStyle = decimal === ',' ? styles.comma : styles.point;
  let most = 0;
  const shown = columns.map((values) => shownDecimal(values));
  for (const style of order) {
    if (decimal !== undefined && style.decimal !== decimal) continue;
    // A column may show that its marks stand for something else.
    const allowed = columns.filter((_, index) => (shown[index] ?? style.decimal) === style.decimal);
    if (allowed.length <= most) continue;
    const numeric = allowed.filter((values) => isNumberColumn(values, style)).length;
    if (numeric > most) [best, most] = [style, numeric];
  }
  return best;
}

/** Whether all values that are there are numbers, and are amounts rather than codes. */
export function isNumberColumn(values: readonly string[], style: NumberStyle): boolean {
  let numbers = 0;
  for (const value of values) {
    if (isNumber(value, style)) numbers++;
    else if (!isMissingWord(value)) return false;
  }
  return numbers > 0 && !isCodeColumn(values);
}

/** Digits that are no amounts: with leading zeros (00123), or too long for exact numbers (16 digits and more). */
export function isCodeColumn(values: readonly string[]): boolean {
  return values.some((value) => /^\s*(0\d+|\d{16,})\s*$/.test(value));
}
