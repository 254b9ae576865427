// Delimited text: CSV, TSV, and files with ; or | or another mark. The layout is voted on (dialect.ts), a sample of rows
// tells which columns are numbers, and DuckDB reads every row to that. Rows it rejects decide what happens next: read
// again more carefully, leave lines out, or refuse the file with the lines that are wrong.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning, ReadOptions } from '../../protocol/data.ts';
import { queryColumns } from '../database.ts';
import { uniqueNames } from '../schema/names.ts';
import {
  certainMissing,
  isMissingWord,
  isNumber,
  isNumberColumn,
  pointStyle,
  sniffNumberStyle,
} from '../schema/spelling.ts';
import type { NumberStyle } from '../schema/spelling.ts';
import type { StoredColumn } from '../schema/stored.ts';
import { quoteList, quoteName, quoteText } from '../sql.ts';
import { firstLines, noDelimiter, sniffDialect } from './dialect.ts';
import type { Dialect } from './dialect.ts';
import { decodeHead, encodingTitles, sniffEncoding, transcode } from './encoding.ts';
import type { TextEncoding } from './encoding.ts';
import { headBytes } from './format.ts';
import type { DatasetFormat, OpenRequest, SourceCheck, TableSource } from './format.ts';
import { explainBroken, skippedLines, takeRejects } from './rejects.ts';
import { ownValue } from '../../protocol/own.ts';

/** Rows of the sample that decides which columns are numbers. */
const sampleRows = 1024;
const sampleCharacters = 2 ** 18;
/** Bytes DuckDB reads at a time; its own choice, four times as much, does not fit into little memory. */
const bufferBytes = 2 ** 23;
/** Rejected rows remembered: enough to decide, and bounded for any file. */
const rejectLimit = 10_000;

export const delimitedText: DatasetFormat = {
  name: 'delimited text',
  sniff: (head) => sniffEncoding(head.bytes) !== null,
  open: (request) => openDelimited(request, request.options.encoding),
};

/** What is assumed about a file. Reading may show that it does not hold, and then it is read again with another one. */
interface Layout {
  readonly path: string;
  readonly encoding: TextEncoding;
  readonly dialect: Dialect;
  /** `skip`: the first line is data for DuckDB only, as it has too few names. */
  readonly header: 'none' | 'first line' | 'skip';
  readonly columns: readonly StoredColumn[];
  readonly style: NumberStyle;
  /** Spellings read as missing in every column. */
  readonly missing: readonly string[];
  readonly renamed: readonly DataWarning[];
}

async function openDelimited(request: OpenRequest, wish: ReadOptions['encoding']): Promise<TableSource> {
  const { head, options, job } = request;
  const encoding = sniffEncoding(head.bytes, wish);
  if (encoding === null) throw notText(head.name);
  const text = decodeHead(head.bytes, encoding);
  if (text.trim() === '') {
    throw new InputError(
      'input.empty',
      `${head.name} is empty: there is no text in it.`,
      'Choose a file with a header line and rows.',
    );
  }
  const complete = head.size <= headBytes;
  const dialect = sniffDialect(text, complete, options.delimiter);
  const whole = complete ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  const sample = await readSample(request, firstLines(whole, sampleCharacters), dialect);
  let path = head.path;
  if (encoding !== 'utf-8') {
    path = join(request.workFolder, 'utf-8.csv');
    await transcode(head.path, encoding, path, head.size, job);
  }
  return sourceOf(request, settleLayout(request, path, encoding, dialect, sample));
}

/** The first rows as plain text, column by column; a header is among them. Broken lines are left out. */
async function readSample(
  { connection, workFolder }: OpenRequest,
  text: string,
  dialect: Dialect,
): Promise<readonly (readonly string[])[]> {
  const path = join(workFolder, 'head.csv');
  await writeFile(path, text);
  const width = dialect.trailing && dialect.firstFields <= dialect.fields ? dialect.fields - 1 : dialect.fields;
  const names = Array.from({ length: width }, (_, index) => `c${index}`);
  const settings = ['header = false', `skip = ${dialect.skip}`, 'ignore_errors = true', 'null_padding = true'];
  const call = readCsv(path, { dialect, names, settings });
  const columns = await queryColumns(connection, `SELECT * FROM ${call} LIMIT ${sampleRows + 1}`);
  return columns.map((column) => column.map((value) => String(value ?? '')));
}

/** Finds out the header and which columns are numbers. */
function settleLayout(
  { options, head }: OpenRequest,
  path: string,
  encoding: TextEncoding,
  dialect: Dialect,
  sample: readonly (readonly string[])[],
): Layout {
  const width = sample.length;
  const shortHeader = !dialect.trailing && dialect.firstFields === width - 1;
  const hasHeader = options.header ?? (shortHeader || looksLikeHeader(sample));
  const values = hasHeader ? sample.map((column) => column.slice(1)) : sample;
  if (values.every((column) => column.length === 0)) {
    throw new InputError(
      'input.no_rows',
      `${head.name} has a header line and no rows.`,
      'Add rows below the header, or set "no header" if the first line is data.',
    );
  }
  const style = sniffNumberStyle(values, dialect.delimiter, options.decimal);
  const first = sample.map((column) => column[0] ?? '');
  const written = hasHeader ? (shortHeader ? ['row', ...first.slice(0, -1)] : first) : sample.map(() => '');
  const { names: unique, warnings: renamed } = uniqueNames(written, hasHeader);
  const missing = new Set(['', ...spellings(certainMissing)]);
  const columns = unique.map((name, index): StoredColumn => {
    const column = values[index] ?? [];
    const number = isNumberColumn(column, style);
    if (number) for (const value of column) if (isMissingWord(value)) missing.add(value);
    return { name, storage: number ? 'DOUBLE' : 'VARCHAR', missing: [] };
  });
  const header = !hasHeader ? 'none' : shortHeader ? 'skip' : 'first line';
  return { path, encoding, dialect, header, columns, style, missing: [...missing], renamed };
}

/** Common ways of writing a lower-case spelling. */
function spellings(words: Iterable<string>): string[] {
  return [...words]
    .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
    .concat('NaN');
}

/** The first line is a header unless it looks like the lines below it. */
function looksLikeHeader(sample: readonly (readonly string[])[]): boolean {
  const first = sample.map((column) => (column[0] ?? '').trim());
  const isNumeric = (value: string): boolean =>
    isNumber(value, pointStyle) || isNumber(value, { decimal: ',', thousands: '' });
  if (first.some(isNumeric)) {
    if (namesYears(sample, first.filter(isNumeric))) return true;
    // A word above numbers is a name, whatever stands beside it.
    return sample.some((column, index) => {
      const below = column.slice(1).filter((value) => !isMissingWord(value));
      return (
        first[index] !== '' &&
        !isMissingWord(first[index] ?? '') &&
        !isNumeric(first[index] ?? '') &&
        below.length > 0 &&
        below.every(isNumeric)
      );
    });
  }
  if (first.every((value) => value === '')) return false;
  // All words: a name does not appear again below, a value usually does.
  const repeats = sample.filter(
    (column, index) => column.indexOf(column[0] ?? '', 1) > 0 && first[index] !== '',
  ).length;
  return repeats * 2 < first.length;
}

/** Years in a row as column names: 2019, 2020, 2021. */
function namesYears(sample: readonly (readonly string[])[], numbers: readonly string[]): boolean {
  const years = numbers.map(Number);
  const inOrder = years.every((year, index) => index === 0 || year === (years[index - 1] ?? 0) + 1);
  const plausible = years.every((year) => Number.isInteger(year) && year >= 1800 && year <= 2200);
  return plausible && inOrder && years.length >= 2 && years.length < sample.length;
}

/** What differs between reading the sample and reading the table. */
interface ReadCall {
  readonly dialect: Dialect;
  readonly names: readonly string[];
  readonly storage?: readonly StoredColumn[];
  /** Further settings. */
  readonly settings: readonly string[];
}

/** The `read_csv` call for a layout. */
function readCsv(path: string, { dialect, names, storage, settings }: ReadCall): string {
  const types = names.map((name, index) => `${quoteText(name)}: ${quoteText(storage?.[index]?.storage ?? 'VARCHAR')}`);
  const all = [
    'auto_detect = false',
    `delim = ${quoteText(dialect.delimiter)}`,
    `quote = ${quoteText(dialect.quote)}`,
    `escape = ${quoteText(dialect.quote)}`,
    `buffer_size = ${bufferBytes}`,
    `columns = {${types.join(', ')}}`,
    ...settings,
  ];
  return `read_csv(${quoteText(path)}, ${all.join(', ')})`;
}

function sourceOf(request: OpenRequest, layout: Layout): TableSource {
  const { path, dialect, header, columns, style, missing } = layout;
  const settings = [
    `header = ${header === 'first line'}`,
    `skip = ${dialect.skip + (header === 'skip' ? 1 : 0)}`,
    `nullstr = ${quoteList(missing)}`,
    `decimal_separator = ${quoteText(style.decimal)}`,
    ...(style.thousands === '' ? [] : [`thousands = ${quoteText(style.thousands)}`]),
    'store_rejects = true',
    `rejects_limit = ${rejectLimit}`,
  ];
  const names = columns.map((column) => column.name);
  return {
    columns,
    query: `SELECT ${columns.map(storedValue).join(', ')} FROM ${readCsv(path, { dialect, names, storage: columns, settings })}`,
    reading: describeReading(layout),
    warnings: layout.renamed,
    check: () => checkRows(request, layout),
  };
}

/** A column as it is stored: texts trimmed, so that " cat" and "cat" are one category. */
function storedValue({ name, storage }: StoredColumn): string {
  return storage === 'VARCHAR' ? `nullif(trim(${quoteName(name)}), '') AS ${quoteName(name)}` : quoteName(name);
}

/** Decides what the rejected rows mean. */
async function checkRows(request: OpenRequest, layout: Layout): Promise<SourceCheck> {
  const { options, head, connection } = request;
  const rejects = await takeRejects(connection, rejectLimit);
  if (rejects.invalidEncoding > 0 && options.encoding === undefined && layout.encoding === 'utf-8') {
    return { again: await openDelimited(request, 'latin-1'), why: 'not UTF-8 after all' };
  }
  if (rejects.broken.length > 0 && options.skipBadLines !== true)
    throw explainBroken(head.name, layout.columns.length, rejects);
  if (rejects.casts.size > 0) {
    return { again: sourceOf(request, relax(layout, rejects.casts)), why: 'other values further down' };
  }
  return { finished: rejects.broken.length > 0 ? [skippedLines(rejects)] : [] };
}

/** Columns that hold something else than numbers further down are kept as text, unless it only means "missing". */
function relax(layout: Layout, casts: ReadonlyMap<string, readonly string[]>): Layout {
  const missing = new Set(layout.missing);
  const columns = layout.columns.map((column) => {
    const values = casts.get(column.name) ?? [];
    if (!values.every(isMissingWord)) return { ...column, storage: 'VARCHAR' as const };
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
  ' ': 'space',
  [noDelimiter]: 'none: a single column',
};

function describeReading({ encoding, dialect, header, style }: Layout): Readonly<Record<string, string>> {
  const { delimiter, skip, quote } = dialect;
  return {
    format: 'delimited text',
    delimiter: ownValue(delimiterTitles, delimiter) ?? delimiter,
    encoding: encodingTitles[encoding],
    header: header === 'none' ? 'none: columns are numbered' : `line ${skip + 1}`,
    'decimal mark': style.decimal === ',' ? 'comma' : 'point',
    ...(style.thousands === '' ? {} : { 'thousands mark': style.thousands === ',' ? 'comma' : 'point' }),
    ...(quote === '"' ? {} : { quote: 'single quotes' }),
    ...(skip === 0 ? {} : { 'lines before the table': String(skip) }),
  };
}

function notText(name: string): InputError {
  return new InputError(
    'input.binary',
    `${name} is not a text file: it holds binary data.`,
    'Choose a table as CSV, TSV, Parquet or JSON lines; export other files to CSV first.',
  );
}
