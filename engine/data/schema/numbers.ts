// Numbers as people write them in texts: with currencies, percent signs, units of thousands in several styles, negative ones
// in brackets. A column's way of writing is told from a sample; the same expression then reads every row.

import { quoteText } from '../sql.ts';
import { shownDecimal, useOfMark } from './marks.ts';
import { isMissingWord, isNumber, pointStyle } from './spelling.ts';

/** How the numbers of a text column are written. */
export interface NumberSpelling {
  readonly decimal: '.' | ',';
  /** Between groups of three digits: empty = nothing, a space = any space, an apostrophe = any apostrophe. */
  readonly thousands: '' | ',' | '.' | ' ' | "'";
  /** Before or behind the number: `$`, `EUR`, `%`; empty = nothing. */
  readonly mark: string;
}

/** The decimal mark of a file. */
export interface DecimalMark {
  readonly mark: '.' | ',';
  /** The person said so; otherwise it decides about `1,234`, which may be either. */
  readonly certain: boolean;
  /** Columns of the file show it, so that there is no doubt about `1,234` in another. */
  readonly shown?: boolean;
}

/** Numbers beyond this are no measurements: their squares are infinite. They count as missing, as infinite ones do. */
export const largestNumber = 1e150;

const spaces = '[ \u00a0\u2009\u202f]';
const separators: Readonly<Record<NumberSpelling['thousands'], string>> = {
  '': '',
  ',': ',',
  '.': '\\.',
  ' ': spaces,
  "'": "['\u2019\u00b4\u0060]",
};

/** Currencies and shares, as they stand before or behind numbers. */
const marks =
  /(?:[A-Z]{1,3}\$|\p{Sc}|%|‰|(?<![A-Za-z])(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|BRL|RUB|UAH|KRW|MXN|ZAR|TRY|HKD|SGD|TWD|THB|ILS|AED|SAR|kr\.?|zł|Kč|Ft|Fr\.|lei)(?![A-Za-z]))/u;

/** The number within a text, without signs and marks. The same pattern for JavaScript and for DuckDB. */
function digits({ decimal, thousands }: NumberSpelling): string {
  const point = decimal === '.' ? '\\.' : ',';
  const grouped = thousands === '' ? '' : `[1-9][0-9]{0,2}(?:${separators[thousands]}[0-9]{3})+|`;
  return `(?:(?:${grouped}[0-9]+)(?:${point}[0-9]*)?|${point}[0-9]+)(?:[eE][+-]?[0-9]+)?`;
}

/** A whole text that is a number. */
function pattern(spelling: NumberSpelling): string {
  const number = digits(spelling);
  const gap = `${spaces}*`;
  const mark = spelling.mark === '' ? '' : `(?:${escape(spelling.mark)}${gap})?`;
  const behind = spelling.mark === '' ? '' : `(?:${gap}${escape(spelling.mark)})?`;
  const sign = `[+\u2212-]?${gap}`;
  return `(?:${sign}${mark}${sign}${number}${behind}(?:${gap}-)?|\\(${gap}${mark}${number}${behind}${gap}\\)|${mark}\\(${gap}${number}${gap}\\))`;
}

function escape(text: string): string {
  return text.replaceAll(/[.$^|()[\]{}*+?\\]/g, '\\$&');
}

/** Whether a text is a number written this way. */
export function isSpelledNumber(value: string, spelling?: NumberSpelling): boolean {
  return spelling === undefined ? isNumber(value, pointStyle) : compiled(spelling).whole.test(value.trim());
}

interface Compiled {
  readonly whole: RegExp;
  readonly digits: RegExp;
}

/** Made once: there are few ways of writing, and a request of one row asks for several of them. */
const known = new Map<string, Compiled>();

function compiled(spelling: NumberSpelling): Compiled {
  const key = `${spelling.decimal}${spelling.thousands}|${spelling.mark}`;
  let found = known.get(key);
  if (found === undefined) {
    found = { whole: new RegExp(`^${pattern(spelling)}$`, 'u'), digits: new RegExp(digits(spelling)) };
    known.set(key, found);
  }
  return found;
}

/** The number in a text, without its sign, for people. */
export function numberIn(value: string, spelling: NumberSpelling): string {
  const [found = ''] = compiled(spelling).digits.exec(value) ?? [];
  const together =
    spelling.thousands === '' ? found : found.replaceAll(new RegExp(separators[spelling.thousands], 'g'), '');
  return spelling.decimal === '.' ? together : together.replace(',', '.');
}

/** SQL for the number in a text; NULL where it is none. Without a spelling: a plain number with a decimal point. */
export function parsedNumber(text: string, spelling?: NumberSpelling): string {
  if (spelling === undefined) return `TRY_CAST(${text} AS DOUBLE)`;
  const { decimal, thousands, mark } = spelling;
  const bare = mark === '' ? text : `replace(${text}, ${quoteText(mark)}, '')`;
  const found = `regexp_extract(${bare}, ${quoteText(digits(spelling))})`;
  const together = thousands === '' ? found : `regexp_replace(${found}, ${quoteText(separators[thousands])}, '', 'g')`;
  const plain = decimal === '.' ? together : `replace(${together}, ',', '.')`;
  const negative = `regexp_matches(${bare}, '^[^0-9]*[-\u2212(]|-$')`;
  return `CASE WHEN regexp_full_match(${text}, ${quoteText(pattern(spelling))})
    THEN CASE WHEN ${negative} THEN -1 ELSE 1 END * TRY_CAST(${plain} AS DOUBLE) END`;
}

/** Share of the values that have to be numbers for a way of writing to be considered. */
const candidateShare = 0.5;

/**
 * How the values of a sample are written, if most of them are numbers in other than plain writing; null = plain numbers, or
 * none.
 */
export function sniffNumberSpelling(values: readonly string[], decimal: DecimalMark): NumberSpelling | null {
  const present = values.filter((value) => !isMissingWord(value)).map((value) => value.trim());
  const numeric = present.filter((value) => /\d/.test(value));
  if (numeric.length === 0 || numeric.length < present.length * candidateShare) return null;
  const mark = sniffMark(numeric);
  if (mark === null) return null;
  const shown = shownDecimal(numeric);
  const plain = decimal.mark === '.' ? numeric.filter((value) => isNumber(value, pointStyle)).length : 0;
  let best: NumberSpelling | null = null;
  let most = Math.max(plain, present.length * candidateShare - 1);
  for (const style of stylesFor(decimal)) {
    // Marks that stand for thousands in some values do so in all.
    if (shown !== null && shown !== style.decimal) continue;
    const spelling = { ...style, mark };
    const { whole } = compiled(spelling);
    const hits = numeric.filter((value) => whole.test(value));
    if (hits.length > most && !looksLikeCodes(hits, spelling)) [best, most] = [spelling, hits.length];
  }
  return best;
}

/** The other way to read numbers in which a mark may stand between thousands or before the decimals; null = there is none. */
export function otherReading(spelling: NumberSpelling = plainSpelling): NumberSpelling | null {
  const { decimal, thousands, mark } = spelling;
  if (thousands === ',' || thousands === '.') return { decimal: thousands, thousands: '', mark };
  if (thousands !== '') return null;
  return decimal === ',' ? { decimal: '.', thousands: ',', mark } : { decimal: ',', thousands: '.', mark };
}

/** Whether all values of a sample can be read in the other way as well. */
export function isOpen(values: readonly string[], { decimal, thousands }: NumberSpelling): boolean {
  const mark = thousands === ',' || thousands === '.' ? thousands : decimal;
  return (
    useOfMark(
      values.filter((value) => !isMissingWord(value)),
      mark,
    ) === 'either'
  );
}

/** Numbers as programs write them. */
export const plainSpelling: NumberSpelling = { decimal: '.', thousands: '', mark: '' };

/** The likeliest ways of writing first. */
function stylesFor({ mark, certain }: DecimalMark): Pick<NumberSpelling, 'decimal' | 'thousands'>[] {
  const point = (['', ',', ' ', "'"] as const).map((thousands) => ({ decimal: '.' as const, thousands }));
  const comma = (['', '.', ' ', "'"] as const).map((thousands) => ({ decimal: ',' as const, thousands }));
  const [first, second] = mark === '.' ? [point, comma] : [comma, point];
  return certain ? first : [...first, ...second];
}

/** The one mark that the values have; empty = none; null = several, or a percent sign at only some of them. */
function sniffMark(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) {
    const found = marks.exec(value)?.[0] ?? '';
    counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  const without = counts.get('') ?? 0;
  counts.delete('');
  const [first, second] = [...counts].sort(([, one], [, other]) => other - one);
  if (first === undefined) return '';
  const [mark, count] = first;
  // Two currencies are no common unit.
  if (second !== undefined && second[1] > values.length * 0.01) return null;
  const share = count / (count + without);
  return (mark === '%' || mark === '‰') && share < 0.9 ? null : mark;
}

/** Groups of digits of one length, as telephone numbers have them. */
function looksLikeCodes(values: readonly string[], { thousands }: NumberSpelling): boolean {
  if (values.some((value) => /^0\d/.test(value) || /^\d{16,}$/.test(value))) return true;
  if (thousands !== ' ') return false;
  const shapes = new Set(values.map((value) => value.replaceAll(/\d/g, '9')));
  const [only = ''] = shapes;
  return values.length > 3 && shapes.size === 1 && /^999.999.999/.test(only);
}

/** What a way of writing adds to "numbers", for people; empty for plain ones. */
export function spellingTitle({ thousands, mark, decimal }: NumberSpelling): string {
  const parts = [
    ...(mark === '' ? [] : [`"${mark}"`]),
    ...(thousands === '' ? [] : [`${separatorTitles[thousands]} between thousands`]),
    ...(decimal === ',' ? ['a decimal comma'] : []),
  ];
  return parts.length === 0 ? '' : ` with ${parts.join(' and ')}`;
}

const separatorTitles: Readonly<Record<Exclude<NumberSpelling['thousands'], ''>, string>> = {
  ',': 'commas',
  '.': 'points',
  ' ': 'spaces',
  "'": 'apostrophes',
};
