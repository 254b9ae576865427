// The rows of a file as it came, kept beside what a run predicts for them: shown page by page and written out together. DuckDB
// holds both and spills to the disk: there may be more of them than memory.

import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DOUBLE, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { OutputSpec } from '../model/spec.ts';
import type { CellValue, PredictedRows, PredictionFormat } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { Database, interruptWith, queryRows, runWithProgress } from './database.ts';
import type { DatabaseLimits } from './database.ts';
import { explainFailure } from './failures.ts';
import type { CellTexts } from './formats/format.ts';
import type { Job } from './jobs.ts';
import { valueOfRaw, type FeatureRecipe } from './preprocess/recipe.ts';
import type { StorageType, StoredColumn } from './schema/stored.ts';
import type { MeasuredTable } from './schema/table.ts';
import { quoteList, quoteName, quoteText } from './sql.ts';

interface Opened {
  readonly workFolder: string;
  readonly copied: { readonly table: Pick<MeasuredTable, 'from'>; readonly columns: readonly StoredColumn[] };
  /** The columns of the model, each with SQL for its raw value and its cell. */
  readonly features: readonly { readonly recipe: FeatureRecipe; readonly value: string; readonly cell: string }[];
  /** SQL for what could not be used of a row. */
  readonly reasons: string;
  readonly output: OutputSpec;
  readonly limits: DatabaseLimits;
  /** The cells as they stand in the file, and which file that is; without it the values that were read stand for them. */
  readonly texts?: CellTexts & { readonly stamp: FileStamp };
  /** Rows are pictures, known by the names of their files. */
  readonly pictures?: boolean;
}

/** What tells that a file is still the one that was read. */
interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
}

/** SQL for a column of the file as it is written; `whole`: all its numbers are whole, or all its times days. */
interface Original {
  readonly plain: string;
  readonly whole: boolean;
}

/** Rows that are handed to DuckDB at once. */
const chunkRows = 2048;
/** Digits that are kept of a prediction: what float32 holds, and a little more. */
const digits = 9;
/** A spreadsheet would compute such a text; a number is none. */
const formulaStart = '^ *[=+\\-@\\t\\r\\n＝＋－＠]';

export class KeptTable {
  readonly #opened: Opened;
  readonly #database: Database;
  /** Names of our columns in DuckDB begin with it; none of the file's does. */
  readonly #prefix: string;
  readonly #classes: readonly string[];
  #predicted = 0;
  #files = 0;
  /** Names of the numbers that stand beside the rows in place of predictions. */
  #numbers: readonly string[] | null = null;
  /** How the file's columns are written: found out once. */
  #originals: readonly Original[] | null = null;

  static async open(opened: Opened): Promise<KeptTable> {
    const { workFolder, limits, output, texts } = opened;
    const database = await Database.open(limits, join(workFolder, 'spill'), {
      files: texts ? [texts.path] : [],
      folders: [workFolder],
    });
    const kept = new KeptTable(opened, database);
    const probabilities = output.kind === 'classes' ? output.classes : [];
    const columns = ['value', ...probabilities.map((_, index) => `p${index}`)];
    const typed = columns.map((name) => `${quoteName(kept.#prefix + name)} DOUBLE`);
    await database.connection.run(`CREATE TABLE predictions (${typed.join(', ')})`);
    return kept;
  }

  /** Pictures have one column: the names of their files. */
  static async ofFiles({
    files,
    ...opened
  }: Omit<Opened, 'copied' | 'features' | 'reasons'> & { readonly files: readonly string[] }): Promise<KeptTable> {
    const columns = [{ name: 'file', storage: 'VARCHAR', missing: [] }] as const;
    const table = { from: '(SELECT file, rowid AS file_row_number FROM files)' };
    const kept = await KeptTable.open({
      ...opened,
      copied: { table, columns },
      features: [],
      reasons: "''",
      pictures: true,
    });
    const { connection } = kept.#database;
    await connection.run('CREATE TABLE files (file VARCHAR)');
    const appender = await connection.createAppender('files');
    for (let start = 0; start < files.length; start += chunkRows) {
      const names = files.slice(start, start + chunkRows);
      const chunk = DuckDBDataChunk.create([VARCHAR], names.length);
      chunk.setColumnValues(0, names);
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    return kept;
  }

  private constructor(opened: Opened, database: Database) {
    this.#opened = opened;
    this.#database = database;
    const names = opened.copied.columns.map(({ name }) => name.toLowerCase());
    let prefix = 'predicted ';
    while (names.some((name) => name.startsWith(prefix))) prefix += ' ';
    this.#prefix = prefix;
    this.#classes = opened.output.kind === 'classes' ? opened.output.classes : [];
  }

  get columns(): readonly StoredColumn[] {
    return this.#opened.copied.columns;
  }

  /** Predictions of the rows that follow. */
  async add(values: Float64Array, probabilities: Float64Array | null): Promise<void> {
    const classes = this.#classes.length;
    const types = Array.from({ length: 1 + classes }, () => DOUBLE);
    const appender = await this.#database.connection.createAppender('predictions');
    try {
      for (let start = 0; start < values.length; start += chunkRows) {
        const count = Math.min(chunkRows, values.length - start);
        const chunk = DuckDBDataChunk.create(types, count);
        chunk.setColumnValues(0, Array.from(values.subarray(start, start + count), rounded));
        for (let k = 0; k < classes; k++) {
          const column = Array.from({ length: count }, (_, row) =>
            rounded(probabilities?.[(start + row) * classes + k] ?? 0),
          );
          chunk.setColumnValues(1 + k, column);
        }
        appender.appendDataChunk(chunk);
      }
    } finally {
      appender.closeSync();
    }
    this.#predicted += values.length;
  }

  /** Numbers of the rows that follow, one array a name; they are written in place of predictions, with all their digits. */
  async addNumbers(names: readonly string[], columns: readonly Float64Array[]): Promise<void> {
    const { connection } = this.#database;
    if (this.#numbers === null) {
      this.#numbers = names;
      const typed = names.map((_, index) => `${quoteName(`${this.#prefix}n${index}`)} DOUBLE`);
      await connection.run(`CREATE TABLE numbers (${typed.join(', ')})`);
    }
    const types = names.map(() => DOUBLE);
    const appender = await connection.createAppender('numbers');
    try {
      for (let start = 0; start < columns[0].length; start += chunkRows) {
        const chunk = DuckDBDataChunk.create(types, Math.min(chunkRows, columns[0].length - start));
        columns.forEach((values, index) =>
          chunk.setColumnValues(index, Array.from(values.subarray(start, start + chunkRows))),
        );
        appender.appendDataChunk(chunk);
      }
    } finally {
      appender.closeSync();
    }
  }

  async page(offset: number, limit: number): Promise<PredictedRows> {
    const { copied, features, reasons } = this.#opened;
    const { from } = copied.table;
    return this.#database.use(async (connection) => {
      const names = this.columns.map(({ name }) => quoteName(name));
      const raw = features.flatMap(({ value, cell }) => [value, `CAST(${cell} AS VARCHAR)`]);
      const within = `file_row_number >= ${offset} AND file_row_number < ${offset + limit}`;
      const reader = await explainFailure(() =>
        connection.runAndReadAll(
          `SELECT ${[...names, ...raw, reasons].join(', ')} FROM ${from} WHERE ${within} ORDER BY file_row_number`,
        ),
      );
      const all = reader.getRowsJson() as CellValue[][];
      const found = await explainFailure(() =>
        connection.runAndReadAll(
          `SELECT * FROM predictions WHERE rowid >= ${offset} AND rowid < ${offset + limit} ORDER BY rowid`,
        ),
      );
      const predicted = found.getRowsJS() as number[][];
      return {
        offset,
        total: this.#predicted,
        columns: this.columns.map(({ name }) => name),
        rows: all.map((row) => row.slice(0, names.length).map(readable)),
        read: all.map((row) =>
          features.map(({ recipe }, index) => {
            const [value, cell] = row.slice(names.length + 2 * index);
            const found = valueOfRaw(recipe, value as number | string | null);
            return found === null && 'categories' in recipe ? cell : found;
          }),
        ),
        values: Float64Array.from(predicted, (row) => row[0]),
        probabilities: Float64Array.from(predicted.flatMap((row) => row.slice(1))),
        reasons: all.map((row) => String(row.at(-1) ?? '')),
      };
    });
  }

  /** Writes all rows predicted so far into a new file of the work folder. */
  async write(format: PredictionFormat, job: Job): Promise<{ path: string; bytes: number }> {
    const { workFolder, copied, reasons } = this.#opened;
    const path = join(workFolder, `written-${++this.#files}.${format.format}`);
    const { connection } = this.#database;
    const release = interruptWith(connection, job);
    try {
      const text = format.format === 'csv';
      const texts = text && format.original ? await this.#texts() : null;
      const original =
        texts?.columns ?? (format.original ? (this.#originals ??= await this.#wayOfWriting(connection)) : []);
      const own = (expression: string, storage: StorageType): string =>
        text && format.escapeFormulas === true && storage === 'VARCHAR' ? escaped(expression) : expression;
      const names = format.original || this.#numbers !== null ? [] : this.#rowNames();
      const selected = [
        ...names.map(({ expression, name, storage }) => ({ expression: own(expression, storage), name })),
        ...original.map(({ plain, whole }, index) => {
          const { storage, name } = this.columns[index];
          const point = text && texts === null && storage === 'DOUBLE' && !whole;
          return { expression: own(point ? withoutPoint(plain) : plain, storage), name };
        }),
        ...this.#predictions(format).map(({ expression, storage, name }) => ({
          expression: own(expression, storage),
          name: this.#freeName(name, format.original),
        })),
        ...(format.reasons
          ? [{ expression: own(`nullif(${reasons}, '')`, 'VARCHAR'), name: this.#freeName('reasons', format.original) }]
          : []),
      ];
      const header = (name: string): string => (text && format.escapeFormulas === true ? escapedName(name) : name);
      const list = selected.map(({ expression, name }) => `${expression} AS ${quoteName(header(name))}`).join(', ');
      const options = text ? 'FORMAT csv, HEADER true' : 'FORMAT parquet, COMPRESSION zstd';
      const report = job.stage('Writing');
      await runWithProgress(
        connection,
        `COPY (SELECT ${list} FROM ${copied.table.from} POSITIONAL JOIN ${this.#numbers === null ? 'predictions' : 'numbers'}${texts === null ? '' : ` POSITIONAL JOIN ${texts.from}`}) TO ${quoteText(path)} (${options})`,
        (share) => report(share),
      );
      return { path, bytes: (await stat(path)).size };
    } finally {
      release();
    }
  }

  /** Columns that stand in place of the file's own: `row`, of pictures `file` too, as in what the command line writes. */
  #rowNames(): { expression: string; storage: StorageType; name: string }[] {
    const row = { expression: 'row_number() OVER ()', storage: 'DOUBLE', name: 'row' } as const;
    return this.#opened.pictures ? [row, { expression: 'file', storage: 'VARCHAR', name: 'file' }] : [row];
  }

  /** The file's own names stay; ours make way. */
  #freeName(name: string, original: boolean): string {
    const taken = new Set(original ? this.columns.map((column) => column.name.toLowerCase()) : []);
    let free = name;
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name} (${number})`;
    return free;
  }

  #predictions({ probabilities }: PredictionFormat): { expression: string; storage: StorageType; name: string }[] {
    if (this.#numbers !== null) {
      return this.#numbers.map((name, index) => ({
        expression: quoteName(`${this.#prefix}n${index}`),
        storage: 'DOUBLE',
        name,
      }));
    }
    const value = quoteName(`${this.#prefix}value`);
    if (this.#classes.length === 0) return [{ expression: value, storage: 'DOUBLE', name: 'prediction' }];
    const shares = this.#classes.map((name, index) => ({
      expression: quoteName(`${this.#prefix}p${index}`),
      storage: 'DOUBLE' as const,
      name: `p(${name})`,
    }));
    const label = `${quoteList(this.#classes)}[CAST(${value} AS BIGINT) + 1]`;
    return [{ expression: label, storage: 'VARCHAR', name: 'prediction' }, ...(probabilities ? shares : [])];
  }

  /** The cells as they stand in the file, a table beside the others; null where the file has no texts. */
  async #texts(): Promise<{ readonly columns: readonly Original[]; readonly from: string } | null> {
    const { texts } = this.#opened;
    if (texts === undefined) return null;
    const now = await stampOf(texts.path).catch(() => null);
    if (now?.size !== texts.stamp.size || now.mtimeMs !== texts.stamp.mtimeMs) {
      throw new InputError(
        'input.changed',
        `${basename(texts.path)} is not what was predicted: it has changed, or is gone.`,
        'Predict it again, or save the predictions without the original columns.',
      );
    }
    const names = this.columns.map((_, index) => `${this.#prefix}o${index}`);
    return { columns: names.map((name) => ({ plain: quoteName(name), whole: false })), from: texts.table(names) };
  }

  /** SQL for each column as its values were read, for files that have no texts: whole numbers without a point, days without a time. */
  async #wayOfWriting(connection: DuckDBConnection): Promise<readonly Original[]> {
    const { from } = this.#opened.copied.table;
    const whole = await queryRows(
      connection,
      `SELECT ${this.columns.map(({ name, storage }, index) => `${isWhole(quoteName(name), storage)} AS whole_${index}`).join(', ')} FROM ${from}`,
    );
    return this.columns.map(({ name, storage }, index) => {
      const quoted = quoteName(name);
      if (whole[0]?.[`whole_${index}`] !== true) return { plain: quoted, whole: false };
      return { plain: `CAST(${quoted} AS ${storage === 'DOUBLE' ? 'BIGINT' : 'DATE'})`, whole: true };
    });
  }

  async close(): Promise<void> {
    this.#database.close();
    await rm(this.#opened.workFolder, { recursive: true, force: true });
  }
}

/** Of a file as it is now. */
export async function stampOf(path: string): Promise<FileStamp> {
  const { size, mtimeMs } = await stat(path);
  return { size, mtimeMs };
}

function rounded(value: number): number {
  return Number(value.toPrecision(digits));
}

function isWhole(quoted: string, storage: StorageType): string {
  // Beyond 2^53 digits are no longer those of the file.
  if (storage === 'DOUBLE')
    return `bool_and(isfinite(${quoted}) AND ${quoted} = trunc(${quoted}) AND abs(${quoted}) < 9e15)`;
  return storage === 'TIMESTAMP' ? `bool_and(${quoted} = date_trunc('day', ${quoted}))` : 'false';
}

/** 18 and not 18.0 where it stands beside 18.5. */
function withoutPoint(expression: string): string {
  return `regexp_replace(CAST(${expression} AS VARCHAR), '\\.0$', '')`;
}

function escaped(expression: string): string {
  const risky = `regexp_matches(${expression}, ${quoteText(formulaStart)}) AND TRY_CAST(${expression} AS DOUBLE) IS NULL`;
  return `CASE WHEN ${risky} THEN '''' || ${expression} ELSE ${expression} END`;
}

function escapedName(name: string): string {
  return new RegExp(formulaStart).test(name) && !Number.isFinite(Number(name)) ? `'${name}` : name;
}

/** Whole numbers arrive as they are, times as texts. */
function readable(value: unknown): CellValue {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  return String(value);
}
