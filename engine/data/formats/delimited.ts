// Delimited text: CSV, TSV, and files with ; or | or another mark. The layout is voted on (dialect.ts), a sample of rows
// tells which columns are numbers, and DuckDB reads every row to that. Rows it rejects decide what happens next: read
// again more carefully, leave lines out, or refuse the file with the lines that are wrong.

import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning, ReadOptions } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
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
import { quoteList, quoteText } from '../sql.ts';
import { noDelimiter, sniffDialect } from './dialect.ts';
import type { Dialect } from './dialect.ts';
import { decodeHead, encodingTitles, sniffEncoding, transcode } from './encoding.ts';
import type { TextEncoding } from './encoding.ts';
import { headBytes } from './format.ts';
import type { DatasetFormat, OpenRequest, SourceCheck, TableSource } from './format.ts';
import { explainBroken, skippedLines, takeRejects } from './rejects.ts';

/** Rows of the sample that decides which columns are numbers. */
const sampleRows = 2048;
/** Longest line, in bytes; longer ones are mostly an unclosed quote. */
const lineLimit = 2 ** 24;
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
  const dialect = sniffDialect(text, head.size <= headBytes, options.delimiter);
  let path = head.path;
  if (encoding !== 'utf-8') {
    path = join(request.workFolder, 'utf-8.csv');
    await transcode(head.path, encoding, path, head.size, job);
  }
  return sourceOf(request, await sniffLayout(request, path, encoding, dialect));
}

/** Reads a sample as plain text and finds out the header and which columns are numbers. */
async function sniffLayout(
  request: OpenRequest,
  path: string,
  encoding: TextEncoding,
  dialect: Dialect,
): Promise<Layout> {
  const { connection, options, head } = request;
  const width = dialect.trailing && dialect.firstFields <= dialect.fields ? dialect.fields - 1 : dialect.fields;
  const names = Array.from({ length: width }, (_, index) => `c${index}`);
  const call = readCsv(path, {
    dialect,
    names,
    settings: ['header = false', `skip = ${dialect.skip}`, 'ignore_errors = true', 'null_padding = true'],
  });
  const rows = await queryRows(connection, `SELECT * FROM ${call} LIMIT ${sampleRows + 1}`);
  const sample = names.map((name) => rows.map((row) => String(row[name] ?? '')));
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
  const written = hasHeader ? (shortHeader ? ['row', ...first.slice(0, -1)] : first) : names.map(() => '');
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
  if (first.some((value) => isNumeric(value))) {
    // Years as column names: numbers above words are still names; numbers above numbers are data.
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
    `max_line_size = ${lineLimit}`,
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
    query: `SELECT * FROM ${readCsv(path, { dialect, names, storage: columns, settings })}`,
    reading: describeReading(layout),
    warnings: layout.renamed,
    check: () => checkRows(request, layout),
  };
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
    delimiter: delimiterTitles[delimiter] ?? delimiter,
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
