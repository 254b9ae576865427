// What is assumed about a delimited text file before it is read: its layout, its header, which columns are numbers. Reading
// may show that it does not hold, and then the file is read again with another layout.

import { InputError } from '../../protocol/errors.ts';
import type { DataWarning, ReadOptions } from '../../protocol/data.ts';
import { ownValue } from '../../protocol/own.ts';
import { bareName } from '../preprocess/forms.ts';
import { uniqueNames } from '../schema/names.ts';
import { shownDecimal, useOfMark } from '../schema/marks.ts';
import type { DecimalMark, NumberSpelling } from '../schema/numbers.ts';
import { certainMissing, isMissingWord, isNumberColumn, sniffNumberStyle } from '../schema/spelling.ts';
import type { NumberStyle } from '../schema/spelling.ts';
import type { StoredColumn } from '../schema/stored.ts';
import { short } from '../schema/typing.ts';
import { noDelimiter } from './dialect.ts';
import type { Dialect } from './dialect.ts';
import { encodingTitles } from './encoding.ts';
import type { TextEncoding } from './encoding.ts';
import type { TrainingFile } from './format.ts';
import { looksLikeHeader } from './header.ts';
import { readRecords } from './records.ts';
import { explainBroken } from './rejects.ts';
import { isUnitsRow, mayHoldUnits } from './units.ts';

export interface Layout {
  readonly encoding: TextEncoding;
  readonly dialect: Dialect;
  /** `skip`: the first line is data for DuckDB only, as it has too few names. */
  readonly header: 'none' | 'first line' | 'skip';
  /** What stands in the row of units below the header, column by column. */
  readonly units: readonly string[] | null;
  readonly columns: readonly StoredColumn[];
  readonly style: NumberStyle;
  readonly decimal: DecimalMark;
  /** Spellings read as missing in every column. */
  readonly missing: readonly string[];
  readonly warnings: readonly DataWarning[];
  /** Only the careful way reads this file right. */
  readonly careful: boolean;
}

/** Rows of the sample that decides which columns are numbers. */
const sampleRows = 1024;

/** The layout of a file of which `text` is the beginning, with `\n` as its only line end. */
export function settleLayout(
  text: string,
  about: {
    readonly name: string;
    readonly options: ReadOptions;
    readonly encoding: TextEncoding;
    readonly dialect: Dialect;
    readonly complete: boolean;
    /** The file has line ends that DuckDB does not take. */
    readonly oddLineEnds: boolean;
    readonly like?: TrainingFile;
  },
): Layout {
  const { options, encoding, dialect, complete, name, like } = about;
  const { columns: sample, first } = readSample(text, about);
  const width = sample.length;
  const shortHeader = !dialect.trailing && dialect.firstFields === width - 1;
  const hasHeader = options.header ?? (shortHeader || looksLikeHeader(sample));
  const written = sample.map((column) => (hasHeader ? column.slice(1) : column));
  if (complete && written.every((column) => column.length === 0)) {
    throw new InputError(
      'input.no_rows',
      `${name} has a header line and no rows.`,
      'Add rows below the header, or set "no header" if the first line is data.',
    );
  }
  const below = written.map((column) => column.slice(1));
  const styleOf = (values: readonly (readonly string[])[]): NumberStyle =>
    sniffNumberStyle(values, dialect.delimiter, options.decimal);
  // A model's rows are all predicted, unless its own file began with units.
  const mayHave = hasHeader && like?.units !== false && mayHoldUnits(written);
  const hasUnits = mayHave && isUnitsRow(written, styleOf(below));
  const values = hasUnits ? below : written;
  const style = styleOf(values);
  const wishes = hasHeader ? (shortHeader ? ['row', ...first.slice(0, -1)] : first) : sample.map(() => '');
  const { names, warnings: renamed } = uniqueNames(wishes, hasHeader);
  const missing = new Set(['', ...spellings(certainMissing)]);
  const decimal = decimalOf(values, style, options);
  // What may be read in two ways stays text here: all rows, or a model's training, decide.
  const open = (column: readonly string[]): boolean =>
    like === undefined
      ? !decimal.certain && decimal.shown !== true && isOpenColumn(column, dialect.delimiter === ';')
      : isOpenColumn(column, dialect.delimiter !== ',');
  const texts = names.map((unique) => like?.texts?.get(bareName(unique)));
  // DuckDB has one list of words for missing cells: beside a text that has none all columns are read as texts.
  const exact = texts.some((text) => text?.exact === true);
  const numeric = values.map(
    (column, at) => !exact && texts[at] === undefined && isNumberColumn(column, style) && !open(column),
  );
  // What means "missing" among numbers may be a value elsewhere ("None"): then the numbers are read as texts first.
  const words = new Set(values.flatMap((column, index) => (numeric[index] === true ? [] : column)));
  const columns = names.map((unique, index): StoredColumn => {
    const spelled = (values[index] ?? []).filter((value) => isMissingWord(value) && !missing.has(value));
    const number = numeric[index] === true && !spelled.some((value) => words.has(value));
    if (number) for (const value of spelled) missing.add(value);
    if (texts[index]?.exact === true) return { name: unique, storage: 'VARCHAR', missing: [], exact: true };
    if (!number) return { name: unique, storage: 'VARCHAR', missing: [] };
    const written = writingOf(values[index] ?? [], style);
    return { name: unique, storage: 'DOUBLE', missing: [], ...(written === null ? {} : { written }) };
  });
  const units = hasUnits ? written.map((column) => (column[0] ?? '').trim()) : null;
  return {
    encoding,
    dialect,
    header: !hasHeader ? 'none' : shortHeader ? 'skip' : 'first line',
    units,
    columns,
    style,
    decimal,
    missing: [...missing],
    warnings: [...titleWarning(dialect), ...renamed, ...(units === null ? [] : [unitsWarning(names, units)])],
    careful:
      about.oddLineEnds ||
      hasUnits ||
      dialect.spaced ||
      dialect.escape !== dialect.quote ||
      dialect.delimiter.length > 1 ||
      first.some((field) => field.includes('\n')),
  };
}

/** The file's decimal mark, and whether a column of numbers leaves no doubt about it. */
function decimalOf(
  values: readonly (readonly string[])[],
  style: NumberStyle,
  { decimal }: Pick<ReadOptions, 'decimal'>,
): DecimalMark {
  const shown = values.some((column) => shownDecimal(column) === style.decimal && isNumberColumn(column, style));
  return { mark: style.decimal, certain: decimal !== undefined, shown };
}

/** Numbers such as 1,234 alone. `points`: 1.234 may be a thousand, too, as it may not between commas. */
function isOpenColumn(values: readonly string[], points: boolean): boolean {
  const marks = points ? ([',', '.'] as const) : ([','] as const);
  return marks.some((mark) => useOfMark(values, mark) === 'either');
}

/** How a column writes numbers, if it has marks in them. */
function writingOf(values: readonly string[], { decimal, thousands }: NumberStyle): NumberSpelling | null {
  const has = (mark: string): boolean => mark !== '' && values.some((value) => value.includes(mark));
  const grouped = has(thousands);
  if (!grouped && !has(decimal)) return null;
  return { decimal, thousands: grouped ? thousands : '', mark: '' };
}

/** The first records as plain text, column by column; a header is among them. Records of another width are left out. */
function readSample(
  text: string,
  { dialect, complete, name }: { readonly dialect: Dialect; readonly complete: boolean; readonly name: string },
): { readonly columns: readonly (readonly string[])[]; readonly first: readonly string[] } {
  const width = dialect.trailing && dialect.firstFields <= dialect.fields ? dialect.fields - 1 : dialect.fields;
  const body = text.split('\n', dialect.skip).reduce((length, line) => length + line.length + 1, 0);
  const all = readRecords(text.slice(body), dialect, complete, sampleRows + 1);
  const fits = all.filter(({ broken, fields }, index) => {
    if (broken !== null) return false;
    return index === 0 || fields.length === width || (dialect.trailing && fields.length === width + 1);
  });
  const broken = all.filter((record) => record.broken !== null);
  if (complete && broken.length > 0 && fits.length < 2) {
    throw explainBroken(
      name,
      width,
      broken.map(({ line }) => ({ line: line + dialect.skip, kind: 'quote', found: 0 })),
      broken.length,
    );
  }
  const [head] = fits;
  const pad = (fields: readonly string[]): string[] => Array.from({ length: width }, (_, index) => fields[index] ?? '');
  const rows = fits.map(({ fields }) => pad(fields));
  return {
    columns: Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? '')),
    first: pad(head?.fields ?? []),
  };
}

/** Common ways of writing a lower-case spelling. */
function spellings(words: Iterable<string>): string[] {
  return [...words]
    .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
    .concat('NaN');
}

/** What was left out above the table. */
function titleWarning({ titles }: Dialect): DataWarning[] {
  const named = titles.filter((title) => title.trim() !== '').map((title) => `"${short(title.trim())}"`);
  if (named.length === 0) return [];
  const listed = named.slice(0, 3).join(', ') + (named.length > 3 ? ' …' : '');
  const many = named.length === 1 ? 'line above the table is' : 'lines above the table are';
  return [{ code: 'title_lines', message: `${named.length} ${many} left out: ${listed}.` }];
}

function unitsWarning(names: readonly string[], units: readonly string[]): DataWarning {
  const named = names.flatMap((name, index) => (units[index] ? [`${name} ${units[index]}`] : []));
  const listed = named.slice(0, 5).join(', ') + (named.length > 5 ? ' …' : '');
  return {
    code: 'units_row',
    message: `The line below the header holds units (${listed}): it is left out.`,
    columns: names.filter((_, index) => units[index]),
  };
}

/**
 * Columns that hold something else than numbers further down are kept as text, unless it only means "missing" and no other
 * column can mean anything else by it.
 */
export function relax(layout: Layout, casts: ReadonlyMap<string, readonly string[]>): Layout {
  const missing = new Set(layout.missing);
  const hasTexts = layout.columns.some(({ storage }) => storage === 'VARCHAR');
  const certain = (value: string): boolean => certainMissing.has(value.trim().toLowerCase());
  const columns = layout.columns.map((column) => {
    const values = casts.get(column.name) ?? [];
    if (!values.every(hasTexts ? certain : isMissingWord)) return { ...column, storage: 'VARCHAR' as const };
    for (const value of values) missing.add(value);
    return column;
  });
  return { ...layout, columns, missing: [...missing] };
}

const delimiterTitles: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
  ':': 'colon',
  [noDelimiter]: 'none: a single column',
};

/** How a file is read, for people. */
export function describeReading({ encoding, dialect, header, style, units }: Layout): Readonly<Record<string, string>> {
  const { delimiter, skip, quote, spaced, escape } = dialect;
  return {
    format: 'delimited text',
    delimiter: spaced ? 'spaces' : (ownValue(delimiterTitles, delimiter) ?? delimiter),
    encoding: encodingTitles[encoding],
    header: header === 'none' ? 'none: columns are numbered' : `line ${skip + 1}`,
    'decimal mark': style.decimal === ',' ? 'comma' : 'point',
    ...(style.thousands === '' ? {} : { 'thousands mark': style.thousands === ',' ? 'comma' : 'point' }),
    ...(quote === '"' ? {} : { quote: 'single quotes' }),
    ...(escape === quote ? {} : { 'quotes within values': 'after a backslash' }),
    ...(units === null ? {} : { units: 'in the line below the header' }),
    ...(skip === 0 ? {} : { 'lines before the table': String(skip) }),
  };
}
