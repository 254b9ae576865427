// DuckDB does all parsing and profiling. Every instance lives in memory, may touch only the paths it is given, never loads
// an extension and cannot be reconfigured afterwards: a file is data, whatever is in it.

import { availableParallelism, totalmem } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBVector } from '@duckdb/node-api';
import { quoteList } from './sql.ts';
import { explainFailure } from './failures.ts';
import type { NumberColumn } from './preprocess/values.ts';
import type { Job } from './jobs.ts';

/** What DuckDB may use. */
export interface DatabaseLimits {
  /** Bytes DuckDB may hold before it spills to disk. */
  readonly memoryBytes: number;
  readonly threads: number;
}

/** A quarter of the machine's memory, between 128 MiB and 2 GiB: data work shares the machine with training. */
export function defaultMemoryBytes(): number {
  return Math.min(2 ** 31, Math.max(128 * 2 ** 20, Math.floor(totalmem() / 4)));
}

export function defaultThreads(): number {
  return availableParallelism();
}

/** A locked-down DuckDB. Connections are cheap: take one for each piece of work that may overlap with others. */
export class Database {
  readonly #instance: DuckDBInstance;
  /** The connection that was open before the lock: the only one that reports progress. */
  readonly connection: DuckDBConnection;
  readonly #inUse = new Set<DuckDBConnection>();
  readonly #working = new Set<Promise<unknown>>();

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.connection = connection;
  }

  /** Opens a database that may read `files`, read and write below `folders`, and spill to `spillFolder`. */
  static async open(
    limits: DatabaseLimits,
    spillFolder: string,
    access: { readonly files: readonly string[]; readonly folders: readonly string[] },
  ): Promise<Database> {
    const instance = await DuckDBInstance.create(':memory:', {
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      memory_limit: `${Math.floor(limits.memoryBytes / 2 ** 20)}MiB`,
      threads: String(limits.threads),
      temp_directory: spillFolder,
    });
    const connection = await instance.connect();
    const settings = [
      'SET enable_progress_bar = true',
      'SET enable_progress_bar_print = false',
      'SET progress_bar_time = 0',
      "SET TimeZone = 'UTC'",
      'SET parquet_metadata_cache = true',
      `SET allowed_paths = ${quoteList(access.files)}`,
      `SET allowed_directories = ${quoteList([...access.folders, spillFolder].map(withSlash))}`,
      'SET enable_external_access = false',
      'SET lock_configuration = true',
    ];
    await connection.run(settings.join('; '));
    return new Database(instance, connection);
  }

  /** Runs work on a connection of its own; its queries stop when the job is cancelled. */
  async use<T>(work: (connection: DuckDBConnection) => Promise<T>, job?: Job): Promise<T> {
    const working = this.#onConnection(work, job);
    this.#working.add(working);
    try {
      return await working;
    } finally {
      this.#working.delete(working);
    }
  }

  async #onConnection<T>(work: (connection: DuckDBConnection) => Promise<T>, job?: Job): Promise<T> {
    const connection = await this.#instance.connect();
    const release = interruptWith(connection, job);
    this.#inUse.add(connection);
    try {
      return await work(connection);
    } finally {
      this.#inUse.delete(connection);
      release();
      connection.closeSync();
    }
  }

  /** Interrupts what is under way, until none of it asks anything more, and closes: an answer of DuckDB's would abort an Electron that is ending. */
  async stop(): Promise<void> {
    while (this.#working.size > 0) {
      for (const connection of this.#inUse) connection.interrupt();
      await Promise.race([Promise.allSettled(this.#working), setTimeout(interruptInterval)]);
    }
    this.close();
  }

  close(): void {
    this.connection.closeSync();
    this.#instance.closeSync();
  }
}

function withSlash(folder: string): string {
  return folder.endsWith('/') || folder.endsWith('\\') ? folder : `${folder}/`;
}

/** A value of a result row; counts and sums arrive as plain numbers. */
export type SqlValue = string | number | boolean | null | readonly SqlValue[];

/** Runs a query and reads all of its (few) rows. */
export async function queryRows(connection: DuckDBConnection, sql: string): Promise<Record<string, SqlValue>[]> {
  const reader = await explainFailure(() => connection.runAndReadAll(sql));
  return reader.getRowObjectsJS().map((row) => mapValues(row, plainValue));
}

/** Runs a query and reads all of its (few) rows, column by column. */
export async function queryColumns(connection: DuckDBConnection, sql: string): Promise<SqlValue[][]> {
  const reader = await explainFailure(() => connection.runAndReadAll(sql));
  return reader.getColumnsJS().map((column) => column.map(plainValue));
}

function mapValues(row: Record<string, unknown>, map: (value: unknown) => SqlValue): Record<string, SqlValue> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, map(value)]));
}

function plainValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plainValue);
  return String(value);
}

/** Milliseconds between two interrupts of a cancelled job: one that falls between two queries stops neither. */
const interruptInterval = 50;

/** Interrupts a connection's queries once the job is cancelled; the returned function lets go of it. */
export function interruptWith(connection: DuckDBConnection, job?: Pick<Job, 'signal'>): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const interrupt = (): void => {
    connection.interrupt();
    timer = setInterval(() => connection.interrupt(), interruptInterval);
  };
  if (job?.signal.aborted === true) interrupt();
  else job?.signal.addEventListener('abort', interrupt);
  return () => {
    clearInterval(timer);
    job?.signal.removeEventListener('abort', interrupt);
  };
}

/** Milliseconds between two looks at a running query's progress. */
const progressInterval = 100;

/** Runs one long statement and reports the share of it that is done. */
export async function runWithProgress(
  connection: DuckDBConnection,
  sql: string,
  onShare: (share: number) => void,
): Promise<void> {
  const timer = setInterval(() => {
    const { percentage } = connection.progress;
    if (percentage >= 0) onShare(percentage / 100);
  }, progressInterval);
  try {
    await explainFailure(() => connection.run(sql));
  } finally {
    clearInterval(timer);
  }
}

/** Called with one chunk of rows: `columns[c].getItem(r)` is a number or null. */
export type ChunkVisitor = (columns: readonly NumberColumn[], rows: number) => void | Promise<void>;

/** Streams a query whose columns are all DOUBLE, in order, about 2,000 rows at a time. */
export async function streamNumbers(
  connection: DuckDBConnection,
  sql: string,
  job: Job,
  visit: ChunkVisitor,
): Promise<void> {
  const result = await explainFailure(() => connection.stream(sql));
  for (;;) {
    job.throwIfCancelled();
    const chunk = await explainFailure(() => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    const columns: NumberColumn[] = [];
    for (let column = 0; column < chunk.columnCount; column++) {
      columns.push(chunk.getColumnVector(column) as unknown as NumberColumn);
    }
    await visit(columns, chunk.rowCount);
  }
}

/** A chunk's cells of a DOUBLE column as they lie in memory; what stands where none is means nothing. */
function cells(vector: DuckDBVector): Float64Array {
  return (vector as unknown as { readonly items: Float64Array }).items;
}

/** The values of DOUBLE expressions, none of them NaN, without those that are missing: for what fits into memory. */
export async function readNumbers(
  connection: DuckDBConnection,
  from: string,
  expressions: readonly string[],
): Promise<readonly Float64Array[]> {
  // Which cells are missing is told far quicker by a value than by DuckDB's bits.
  const selected = expressions.map((expression) => `coalesce(${expression}, 'nan'::DOUBLE)`);
  const sql = `SELECT ${selected.join(', ')} FROM ${from}`;
  const result = await explainFailure(() => connection.run(sql));
  const chunks = await explainFailure(() => result.fetchAllChunks());
  return expressions.map((_, index) => {
    const parts = chunks.map((chunk) => cells(chunk.getColumnVector(index)));
    const values = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
    let count = 0;
    for (const part of parts) {
      for (let row = 0; row < part.length; row++) {
        const value = part[row] as number;
        if (!Number.isNaN(value)) values[count++] = value;
      }
    }
    return values.subarray(0, count);
  });
}
