// Delimited text: CSV, TSV, and files with ; or | or spaces or another mark. The layout is voted on (dialect.ts), a sample
// of rows tells which columns are numbers (layout.ts), and DuckDB reads every row to that. What DuckDB rejects, or reads
// differently from what stands there, is read again the careful way (careful.ts), which knows what is wrong in which line.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { ReadOptions } from '../../protocol/data.ts';
import { contentHint, readHead } from '../files.ts';
import { rewriteTable } from './careful.ts';
import type { Rewritten } from './careful.ts';
import { sniffDialect } from './dialect.ts';
import { decodeHead, encodingTitles, guessWarning, sniffEncoding, transcode } from './encoding.ts';
import type { TextEncoding } from './encoding.ts';
import { headBytes } from './format.ts';
import type { DatasetFormat, OpenRequest, SourceCheck, TableSource } from './format.ts';
import { describeReading, relax, settleLayout } from './layout.ts';
import type { Layout } from './layout.ts';
import { beginsLong, countRecords } from './lines.ts';
import { copyPlain, mayBePlain } from './plain-table.ts';
import { isGrouped, readCsv, rejectLimit, textsOfCsv, type ReadCall } from './read-csv.ts';
import { mend, mendedWarning, takeCensus } from './mixed.ts';
import type { Mended } from './mixed.ts';
import { explainBroken, forgetRejects, skippedLines, takeRejects } from './rejects.ts';
import type { Rejects } from './rejects.ts';
import { looksForeign, Utf8Census } from './utf8.ts';

/** Characters looked at to settle the layout. */
const sampleCharacters = 2 ** 18;
/** Bytes DuckDB reads at a time; its own choice, four times as much, does not fit into little memory. */
const bufferBytes = 2 ** 23;

export const delimitedText: DatasetFormat = {
  name: 'delimited text',
  sniff: (head) => sniffEncoding(head.bytes) !== null,
  open: (request) => openDelimited(request, request.options.encoding),
};

/** `mended`: the file is a copy in which bytes that were not UTF-8 have been replaced. */
async function openDelimited(
  request: OpenRequest,
  wish: ReadOptions['encoding'],
  mended?: Mended,
): Promise<TableSource> {
  const { head, options, job, like } = request;
  const encoding = sniffEncoding(head.bytes, wish);
  if (encoding === null) throw notText(head.name);
  if (encoding === 'utf-8' && wish === undefined && new Utf8Census().take(head.bytes).others > 0) {
    return openMended(request);
  }
  const decoded = decodeHead(head.bytes, encoding);
  if (decoded.trim() === '') {
    throw new InputError('input.empty', `${head.name} is empty: there is no text in it.`, contentHint(head.name));
  }
  const complete = head.size <= headBytes;
  const text = decoded.replaceAll(/\r\n?/g, '\n');
  const dialect = sniffDialect(text, complete, options.delimiter);
  const sample = text.length <= sampleCharacters && complete ? text : text.slice(0, sampleCharacters);
  const settled = settleLayout(sample, {
    name: head.name,
    options,
    encoding,
    dialect,
    complete: complete && sample === text,
    oddLineEnds: hasOddLineEnds(decoded),
    like,
  });
  const guessed = encoding === 'windows-1252' && wish === undefined && looksForeign(head.bytes);
  const notes = [...(mended === undefined ? [] : [mendedWarning(mended)]), ...(guessed ? [guessWarning] : [])];
  const layout = { ...settled, warnings: [...notes, ...settled.warnings] };
  if (layout.careful) return carefulSource(request, layout);
  let { path } = head;
  if (encoding !== 'utf-8') {
    path = join(request.workFolder, 'utf-8.csv');
    await transcode(head.path, encoding, path, head.size, job);
  }
  return mayBePlain(layout, head) ? plainSource(request, layout) : usualSource(request, layout, path);
}

/** The file copied by our own reader, as long as there is nothing unusual in it. */
function plainSource(request: OpenRequest, layout: Layout): TableSource {
  const { head, job, workFolder, threads } = request;
  return {
    ...describeSource(layout, head.path, readCall(layout)),
    write: (target, groupRows, report) =>
      copyPlain(head, target, layout, {
        groupRows,
        threads,
        sample: join(workFolder, 'sample.parquet'),
        job,
        report,
      }),
    check: () => Promise.resolve({ finished: [] }),
    recover: () => usualSource(request, layout, head.path),
    keepExact: (names) => plainSource(request, asText(layout, names)),
  };
}

async function usualSource(request: OpenRequest, layout: Layout, path: string): Promise<TableSource> {
  const { quote, skip } = layout.dialect;
  if (await beginsLong(path, quote, skip, request.job.signal)) return carefulSource(request, layout);
  return quickSource(request, layout, path);
}

/** What all ways of reading a file by a layout have in common. */
function describeSource(
  layout: Layout,
  path: string,
  call: ReadCall,
): Pick<TableSource, 'columns' | 'query' | 'texts' | 'reading' | 'warnings' | 'decimal'> {
  const { columns, warnings, decimal } = layout;
  return {
    columns,
    query: readCsv(path, layout, call),
    texts: textsOfCsv(path, call),
    reading: describeReading(layout),
    warnings,
    decimal,
  };
}

/** How DuckDB reads the file as it is. */
function readCall({ dialect, header, columns }: Layout): ReadCall {
  const settings = [
    `header = ${header === 'first line'}`,
    `skip = ${dialect.skip + (header === 'skip' ? 1 : 0)}`,
    `buffer_size = ${bufferBytes}`,
  ];
  return { ...dialect, columns, settings };
}

/** The file as UTF-8, but for the bytes that are none. */
async function openMended(request: OpenRequest): Promise<TableSource> {
  const { head, workFolder, job } = request;
  const mended = await mend(head.path, join(workFolder, 'mended.csv'), head.size, job);
  const { size } = await stat(mended.path);
  const copy = await readHead(mended.path, head.name, size);
  return openDelimited({ ...request, head: copy }, undefined, mended);
}

/** A file that is not UTF-8 after all: it is mended if most of it is, and else read as Latin-1. */
async function openOtherwise(request: OpenRequest): Promise<TableSource> {
  const { isUtf8 } = await takeCensus(request.head.path, request.job);
  return isUtf8 ? openMended(request) : openDelimited(request, 'latin-1');
}

/** Lone carriage returns, or line ends of two kinds. */
function hasOddLineEnds(text: string): boolean {
  if (!text.includes('\r')) return false;
  return /\r(?!\n)(?!$)/.test(text) || (text.includes('\r\n') && /(?<!\r)\n/.test(text));
}

/** The records of a file, counted while DuckDB reads it: once, however often it is read. */
interface Counting {
  readonly records: Promise<number>;
  /** Aborted at a record that is too long for DuckDB. */
  readonly unfit: AbortSignal;
}

function startCounting({ job }: OpenRequest, { dialect }: Layout, path: string): Counting {
  const unfit = new AbortController();
  const records = countRecords(path, dialect.quote, dialect.skip, job.signal, () => unfit.abort());
  // Awaited when the rows are checked; until then its failure is nobody else's business.
  records.catch(() => undefined);
  return { records, unfit: unfit.signal };
}

/** The file as it is, read by DuckDB; what it cannot read or reads differently is read the careful way. */
function quickSource(
  request: OpenRequest,
  layout: Layout,
  path: string,
  counting: Counting = startCounting(request, layout, path),
): TableSource {
  const { header, columns } = layout;
  const { connection } = request;
  const { records, unfit } = counting;
  const again = (other: Layout): TableSource => quickSource(request, other, path, counting);
  return {
    ...describeSource(layout, path, readCall(layout)),
    unfit,
    async check(rows): Promise<SourceCheck> {
      const rejects = await takeRejects(await connection, rejectLimit);
      const other = await inOtherEncoding(request, layout, rejects);
      if (other !== null) return { again: other, why: 'not UTF-8 after all' };
      if (rejects.broken > 0) return { again: await carefulSource(request, layout), why: 'lines of another shape' };
      if (rejects.casts.size > 0) return { again: again(relaxed(layout, rejects)), why: 'other values further down' };
      const expected = (await records) - (header === 'none' ? 0 : 1);
      if (rows === expected) return { finished: [] };
      return { again: await carefulSource(request, layout), why: `${expected} rows expected, ${rows} read` };
    },
    async recover() {
      await forgetRejects(await connection);
      if (columns.some(isGrouped) && !unfit.aborted) return again(groupedAsText(layout));
      return carefulSource(request, layout);
    },
    keepExact: (names) => again(asText(layout, names)),
  };
}

/** The file written again by our own reader, then read by DuckDB. */
async function carefulSource(request: OpenRequest, layout: Layout): Promise<TableSource> {
  const { head, options, workFolder, job } = request;
  const { encoding, dialect, columns, header, units } = layout;
  let table: Rewritten;
  try {
    table = await rewriteTable({
      source: head.path,
      encoding,
      size: head.size,
      target: join(workFolder, 'rewritten.csv'),
      dialect,
      width: columns.length,
      skipRecords: (header === 'none' ? 0 : 1) + (units === null ? 0 : 1),
      job,
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    if (options.encoding === undefined) return openOtherwise(request);
    throw notInEncoding(head.name, encoding, null);
  }
  if (table.brokenLines > 0 && options.skipBadLines !== true) {
    throw explainBroken(head.name, columns.length, table.broken, table.brokenLines);
  }
  return rewrittenSource(request, layout, table);
}

function rewrittenSource(request: OpenRequest, layout: Layout, table: Rewritten): TableSource {
  const { columns } = layout;
  const { connection, head } = request;
  const settings = [
    'header = false',
    `buffer_size = ${Math.max(bufferBytes, table.longest * 2)}`,
    `max_line_size = ${Math.max(bufferBytes / 4, table.longest)}`,
    'parallel = false',
    // Left to find it, DuckDB takes the first line break for it, which may stand inside quotes.
    "new_line = '\\n'",
  ];
  return {
    ...describeSource(layout, table.path, { delimiter: ',', quote: '"', columns, settings }),
    async check(rows): Promise<SourceCheck> {
      const rejects = await takeRejects(await connection, rejectLimit);
      if (rejects.casts.size > 0) {
        return {
          again: rewrittenSource(request, relaxed(layout, rejects), table),
          why: 'other values further down',
        };
      }
      if (rows !== table.records) {
        throw new InputError(
          'input.unreadable',
          `${head.name} cannot be read: of its ${table.records} rows only ${rows} come out.`,
          'Write it again as plain CSV in UTF-8.',
        );
      }
      return { finished: table.brokenLines > 0 ? [skippedLines(table.broken, table.brokenLines)] : [] };
    },
    ...(columns.some(isGrouped)
      ? {
          async recover() {
            await forgetRejects(await connection);
            return rewrittenSource(request, groupedAsText(layout), table);
          },
        }
      : {}),
    keepExact: (names) => rewrittenSource(request, asText(layout, names), table),
  };
}

/** The layout with numbers that have marks between thousands as text: further down they are written in another way. */
function groupedAsText(layout: Layout): Layout {
  return asText(
    layout,
    layout.columns.filter(isGrouped).map(({ name }) => name),
  );
}

/** After more casts than are remembered, other columns may have some as well: all are read as text at once. */
function relaxed(layout: Layout, { casts, more }: Rejects): Layout {
  const next = relax(layout, casts);
  return more ? asText(next) : next;
}

/** The layout with some columns kept as text, or all of them. */
function asText(layout: Layout, names?: readonly string[]): Layout {
  const columns = layout.columns.map((column) =>
    names === undefined || names.includes(column.name) ? { ...column, storage: 'VARCHAR' as const } : column,
  );
  return { ...layout, columns };
}

/** The source in another encoding, if the file is not UTF-8 after all. @throws InputError if UTF-8 was asked for. */
async function inOtherEncoding(request: OpenRequest, layout: Layout, rejects: Rejects): Promise<TableSource | null> {
  const { invalidEncoding } = rejects;
  if (invalidEncoding === null || layout.encoding !== 'utf-8') return null;
  if (request.options.encoding !== undefined) {
    throw notInEncoding(request.head.name, layout.encoding, invalidEncoding);
  }
  return openOtherwise(request);
}

function notInEncoding(name: string, encoding: TextEncoding, line: number | null): InputError {
  return new InputError(
    'input.encoding',
    `${name}${line === null ? '' : `, line ${line}`}: there are characters that are not ${encodingTitles[encoding]}.`,
    'Name another encoding, or leave it to be found out.',
  );
}

function notText(name: string): InputError {
  return new InputError(
    'input.binary',
    `${name} is not a text file: it holds binary data.`,
    'Choose a table as CSV, TSV, Parquet, Arrow or JSON lines; export other files to CSV first.',
  );
}
