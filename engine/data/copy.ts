// Reading a person's file once, from beginning to end, into a Parquet file of ours in the same row order. DuckDB streams:
// the file may be larger than memory.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import type { DataWarning, ReadOptions } from '../protocol/data.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import { Database, interruptWith, queryColumns, queryRows, runWithProgress } from './database.ts';
import type { DatabaseLimits, SqlValue } from './database.ts';
import { explainFailure } from './failures.ts';
import { unpack } from './formats/archive.ts';
import { dictionaryValues } from './formats/parquet-writer.ts';
import type { CellTexts, FileHead, TableSource, TrainingFile, WrittenTable } from './formats/format.ts';
import { findFormat } from './formats/registry.ts';
import type { Job } from './jobs.ts';
import { aggregate, inGroups } from './schema/aggregate.ts';
import { columnsAtOnce, measuredTable } from './schema/table.ts';
import type { DecimalMark } from './schema/numbers.ts';
import type { MeasuredTable } from './schema/table.ts';
import type { StoredColumn } from './schema/stored.ts';
import { parquetTable, quoteName, quoteText } from './sql.ts';
import { dataFile, datasetFolder } from './store.ts';

/** A file read into a work folder. */
export interface CopiedTable {
  readonly path: string;
  readonly table: MeasuredTable;
  readonly columns: readonly StoredColumn[];
  readonly reading: Readonly<Record<string, string>>;
  readonly warnings: readonly DataWarning[];
  readonly decimal: DecimalMark;
  /** See `TableSource`. */
  readonly texts?: CellTexts;
}

/** Rows of a Parquet row group: a page of rows, wherever it is, costs reading one of them. */
const rowGroupRows = 15 * 2048;
/** Cells of a row group: all of them are in memory at once while it is written. */
const rowGroupCells = 2 ** 23;
/** How often a file may turn out to be different from what was assumed. */
const attempts = 7;

/**
 * Copies a file into `workFolder` and hands the open database to `use`, which may go on working on the copy.
 * @throws InputError if the file cannot be read, CancelledError if the job was cancelled.
 */
export async function copyTable<T>(
  request: {
    readonly head: FileHead;
    readonly options: ReadOptions;
    readonly workFolder: string;
    readonly limits: DatabaseLimits;
    readonly job: Job;
    readonly like?: TrainingFile;
  },
  use: (database: Database, copied: CopiedTable) => Promise<T>,
): Promise<T> {
  const { options, workFolder, limits, job, like } = request;
  const { head, reading } = await unpack(request.head, workFolder, job);
  const format = findFormat(head);
  // It opens on other threads while this one looks at the beginning of the file.
  const opening = Database.open(limits, join(workFolder, 'spill'), { files: [head.path], folders: [workFolder] });
  let release = (): void => undefined;
  const connection = opening.then((database) => {
    release = interruptWith(database.connection, job);
    return database.connection;
  });
  // Awaited below; until then its failure is nobody else's business.
  connection.catch(() => undefined);
  try {
    const source = await format.open({ head, options, connection, workFolder, job, like, threads: limits.threads });
    await connection;
    const database = await opening;
    const copied = await readAll(database, source, { head, workFolder, job });
    return await use(database, { ...copied, reading: { ...reading, ...copied.reading } });
  } catch (error) {
    // A database that does not open says nothing of the file.
    await opening;
    throw explainReading(error, head.name);
  } finally {
    await connection.catch(() => undefined);
    release();
    await opening.then(
      (database) => database.close(),
      () => undefined,
    );
  }
}

/** Whole numbers from here on are not all exact as DOUBLE; beyond the second limit nobody writes all digits. */
const exactLimit = 2 ** 53;
const writtenLimit = 1e40;

/** The least and the greatest value of some columns. */
async function readExtremes(
  connection: DuckDBConnection,
  path: string,
  names: readonly string[],
): Promise<readonly (readonly SqlValue[])[]> {
  const selected = names.map((name) => `min(${quoteName(name)}), max(${quoteName(name)})`);
  const found = await queryColumns(connection, `SELECT ${selected.join(', ')} FROM ${parquetTable(path)}`);
  return names.map((_, index) => [found[2 * index]?.[0] ?? null, found[2 * index + 1]?.[0] ?? null]);
}

/** Columns of numbers with values so large that digits were lost. The file's statistics know of most that they have none. */
async function findInexact(
  connection: DuckDBConnection,
  path: string,
  source: TableSource,
  numbers?: WrittenTable['numbers'],
): Promise<readonly string[]> {
  const names = source.columns
    .filter(({ name, storage }) => storage === 'DOUBLE' && source.large?.has(name) !== false)
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const extremes = numbers
    ? names.map((name) => [numbers.get(name)?.minimum, numbers.get(name)?.maximum])
    : await readExtremes(connection, path, names);
  const large = names.filter((_, index) =>
    extremes[index]?.some((value) => Number.isFinite(value) && Math.abs(Number(value)) >= exactLimit),
  );
  if (large.length === 0) return [];
  // Its extremes alone would let one cell, larger than anything that is written out, hide the others.
  const within = large.map((name) => {
    const size = `abs(${quoteName(name)})`;
    return `coalesce(bool_or(${size} >= ${exactLimit} AND ${size} < ${writtenLimit}), false)`;
  });
  const lost = await queryColumns(connection, `SELECT ${within.join(', ')} FROM ${parquetTable(path)}`);
  return large.filter((_, index) => lost[index]?.[0] === true);
}

/** The columns with a note of those of text in which a cell begins or ends with a space. */
async function notePadding(
  connection: DuckDBConnection,
  from: string,
  columns: readonly StoredColumn[],
): Promise<readonly StoredColumn[]> {
  const texts = columns.filter(({ storage }) => storage === 'VARCHAR');
  const found = await inGroups(texts, (group) =>
    aggregate(
      connection,
      from,
      group.map(({ name }) => quoteName(name)),
      (value) => ({ padded: `bool_or(${value} <> trim(${value}))` }),
    ),
  );
  const padded = new Set(texts.filter((_, index) => found[index].padded === true));
  return columns.map((column) => (padded.has(column) ? { ...column, padded: true } : column));
}

/** Rows of a row group of a table with so many columns; DuckDB works on 2,048 rows at a time. */
function rowGroup(columns: number): number {
  return Math.max(2048, Math.min(rowGroupRows, Math.floor(rowGroupCells / columns / 2048) * 2048));
}

/** DuckDB sets aside a page of a megabyte a column for a dictionary, which is too much for thousands of columns. */
function dictionaryPages(columns: number): string {
  return columns <= columnsAtOnce ? '' : ', STRING_DICTIONARY_PAGE_SIZE_LIMIT 4096';
}

async function readAll(
  { connection }: Database,
  first: TableSource,
  { head, workFolder, job }: { readonly head: FileHead; readonly workFolder: string; readonly job: Job },
): Promise<CopiedTable> {
  await mkdir(join(workFolder, datasetFolder));
  const path = join(workFolder, datasetFolder, dataFile);
  const megabytes = (head.size / 1e6).toFixed(head.size < 1e7 ? 1 : 0);
  let source = first;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const report = job.stage('Reading');
    job.throwIfCancelled();
    const { unfit } = source;
    const release = interruptWith(connection, unfit === undefined ? undefined : { signal: unfit });
    const told = (share: number): void =>
      report(share, `Reading ${((head.size / 1e6) * share).toFixed(0)} of ${megabytes} MB`);
    const groupRows = rowGroup(source.columns.length);
    let written: WrittenTable | null = null;
    try {
      const { write } = source;
      if (write !== undefined) written = await explainFailure(() => write(path, groupRows, told));
      else
        await runWithProgress(
          connection,
          `COPY (${source.query}) TO ${quoteText(path)}
       (FORMAT parquet, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT ${dictionaryValues}, ROW_GROUP_SIZE ${groupRows}${dictionaryPages(source.columns.length)})`,
          told,
        );
    } catch (error) {
      job.throwIfCancelled();
      if (error instanceof TrainyardError || source.recover === undefined) throw error;
      source = await source.recover();
      continue;
    } finally {
      release();
    }
    if (source.write !== undefined && source.recover !== undefined && written === null) {
      source = await source.recover();
      continue;
    }
    const rows = written?.rows ?? (await countRows(connection, path));
    const check = await source.check(rows);
    if ('again' in check) {
      source = check.again;
      continue;
    }
    const inexact = await findInexact(connection, path, source, written?.numbers);
    if (inexact.length > 0) {
      source = source.keepExact(inexact);
      continue;
    }
    const table = { ...measuredTable(path, rows, source.columns.length), ...known(written) };
    if (table.rows === 0) {
      throw new InputError(
        'input.no_rows',
        `${head.name} has no rows that can be read.`,
        'Add rows, or check the delimiter.',
      );
    }
    const warnings = [...source.warnings, ...check.finished];
    const columns = await notePadding(connection, table.from, source.columns);
    const { reading, decimal = { mark: '.', certain: false }, texts } = source;
    return { path, table, columns, reading, warnings, decimal, ...(texts && { texts }) };
  }
  throw new InputError(
    'input.unreadable',
    `${head.name} cannot be read: its columns change from part to part.`,
    'Split it into files that are the same from beginning to end.',
  );
}

/** What a copy that was measured while it was written says of its table. */
function known(written: WrittenTable | null): Partial<MeasuredTable> {
  return written === null
    ? {}
    : { numbers: written.numbers, ...(written.sample !== undefined && { sample: written.sample, apart: true }) };
}

async function countRows(connection: DuckDBConnection, path: string): Promise<number> {
  const [counted] = await queryRows(connection, `SELECT count(*) AS rows FROM ${parquetTable(path)}`);
  return Number(counted?.rows ?? 0);
}

/** A failure of DuckDB's in our own words: its own are about its settings. */
function explainReading(error: unknown, name: string): unknown {
  if (!(error instanceof Error) || error instanceof TrainyardError) return error;
  if (!/^[A-Z][A-Za-z ]* Error: /.test(error.message)) return error;
  return new InputError(
    'input.unreadable',
    `${name} cannot be read: it is damaged, or not laid out as its beginning looks.`,
    'Check that the file is complete; as plain CSV in UTF-8 it can be read in any case.',
    { cause: error },
  );
}
