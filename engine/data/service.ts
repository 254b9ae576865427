// The data service: imports files, shows them, and prepares them for training. Runs in a process of its own or within the
// command line's. Each request works on its own DuckDB connection, so requests may overlap.

import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { CellValue, DatasetInfo, DatasetSettings, DataService, DataWarning, RowPage } from '../protocol/data.ts';
import { Database, defaultMemoryBytes, defaultThreads } from './database.ts';
import { describeTable, settleTable } from './describe.ts';
import { explainFailure } from './failures.ts';
import { inspectPath } from './files.ts';
import { isImagePreprocessing, parseImagePreprocessing } from './images/recipe.ts';
import { ImageDatasets } from './images/service.ts';
import { transformImages } from './images/transform.ts';
import { importFile } from './import.ts';
import { Jobs } from './jobs.ts';
import type { Job } from './jobs.ts';
import { KeptTable } from './kept-table.ts';
import { keepTokens } from './kept-tokens.ts';
import type { Manifest } from './manifest.ts';
import { storedCell } from './schema/stored.ts';
import { Handles } from './handles.ts';
import { prepareLanguage } from './language.ts';
import { formOf, prepareDataset } from './prepare.ts';
import type { Prepared } from './prepare.ts';
import { readRawRows } from './raw-rows.ts';
import { measuredTable } from './schema/table.ts';
import { parquetTable, quoteName } from './sql.ts';
import { DatasetStore } from './store.ts';
import { transformFile } from './transform.ts';
import { CancelledError, InputError } from '../protocol/errors.ts';

export interface DataServiceOptions {
  /** Folder for everything the app keeps; created when needed. */
  readonly home: string;
  /** Bytes DuckDB may hold, and half of that for prepared rows; more goes to disk. */
  readonly memoryBytes?: number;
  readonly threads?: number;
  /** Leftovers of processes that are gone are being removed already, and this is their end. */
  readonly ready?: Promise<void>;
}

/** A data service on this process. `close` ends what is under way and releases everything it holds; nothing more is read then. */
export function createDataService(options: DataServiceOptions): DataService & { close(): Promise<void> } {
  const limits = {
    memoryBytes: options.memoryBytes ?? defaultMemoryBytes(),
    threads: options.threads ?? defaultThreads(),
  };
  const store = new DatasetStore(options.home);
  const images = new ImageDatasets(store);
  const jobs = new Jobs();
  const handles = new Handles();
  const ready = options.ready ?? store.removeLeftovers();
  const spillFolder = store.spillFolder();
  let opened: Promise<Database> | null = null;

  /** Runs work on the database that reads imported datasets. */
  async function read<T>(work: (connection: DuckDBConnection) => Promise<T>, job?: Job): Promise<T> {
    if (jobs.stopped) throw new CancelledError();
    opened ??= Database.open(limits, spillFolder, { files: [], folders: [store.folder] });
    return (await opened).use(work, job);
  }

  async function describe(dataset: string, settings: DatasetSettings): Promise<DatasetInfo> {
    const manifest = await store.read(dataset);
    const { info, columns, importWarnings } = manifest;
    if (Object.values(settings).every((value) => value === undefined)) return { ...info, settings };
    if (info.kind === 'images') return images.describe(manifest, settings);
    const table = measuredTable(store.dataPath(dataset), info.rows, columns.length);
    const description = await read((connection) =>
      describeTable(connection, read, table, columns, importWarnings, settings),
    );
    return { ...info, ...description };
  }

  /** What rows are prepared by; nothing is looked for that would only be said. */
  async function settle({ info, columns }: Manifest, settings: DatasetSettings, job: Job): Promise<DatasetInfo> {
    if (Object.values(settings).every((value) => value === undefined)) return { ...info, settings };
    const table = measuredTable(store.dataPath(info.id), info.rows, columns.length);
    const settled = await read((connection) => settleTable(connection, table, columns, settings), job);
    return { ...info, ...settled };
  }

  function keptOf(handle: string): KeptTable {
    const { kept } = handles.get(handle);
    if (kept === undefined) throw new InputError('data.handle', `The rows of ${handle} were not kept.`);
    return kept;
  }

  return {
    async import({ job, path, options: readOptions = {}, settings = {} }) {
      // Within the job: who cancels it before is heard, too.
      const id = await jobs.run(job, async (running) => {
        await ready;
        return importFile(store, limits, { path, options: readOptions, settings, job: running });
      });
      const info = await describe(id, settings);
      const warning = store.takeWarning(id) ?? (await knownContent(info, path));
      return warning === null ? info : { ...info, warnings: [...info.warnings, warning] };
    },

    cancel({ job }) {
      jobs.cancel(job);
      return Promise.resolve();
    },

    describe: ({ dataset, settings }) => describe(dataset, settings),

    list: () => store.list(),

    remove: ({ dataset }) => store.remove(dataset),

    async rows({ dataset, offset, limit, only }) {
      const manifest = await store.readIntact(dataset);
      const { info } = manifest;
      if (info.kind === 'images') return images.rows(manifest, offset, limit);
      const cells = shownCells(manifest);
      return read((connection) =>
        only
          ? readSome(
              connection,
              store.dataPath(dataset),
              cells,
              offset,
              only.slice(offset, offset + limit),
              only.length,
            )
          : readPage(connection, store.dataPath(dataset), cells, info.rows, offset, limit),
      );
    },

    pictures: async ({ dataset, ...request }) => images.pictures(await store.readIntact(dataset), request),

    skipped: async ({ dataset }) => images.skipped(await store.read(dataset)),

    async prepare({ job, dataset, options: prepareOptions }) {
      // The content of a dataset never changes: what it is and how it is asked for decide all.
      const key = JSON.stringify([dataset, prepareOptions]);
      const { made, shared } = await jobs.run(job, async (running) => {
        await ready;
        const manifest = await store.readIntact(dataset);
        const shared = await handles.share(key);
        if (shared) return { shared };
        return { made: await prepareFrom(manifest, running) };
      });
      return shared ?? handles.keep(made, key);

      async function prepareFrom(manifest: Manifest, running: Job): Promise<Prepared> {
        formOf(manifest.info, prepareOptions.forms);
        if (manifest.info.kind === 'images') return images.prepare(manifest, prepareOptions, running);
        const info = await settle(manifest, prepareOptions.settings, running);
        const request = { store, manifest, info, options: prepareOptions, job: running, limits };
        const prepareRows = info.task === 'language' ? prepareLanguage : prepareDataset;
        return read((connection) => prepareRows(connection, request), running);
      }
    },

    async readingOf({ preprocessing, tokens }) {
      if (isImagePreprocessing(preprocessing)) {
        const { mean, deviation } = parseImagePreprocessing(preprocessing);
        return { texts: null, normalization: { mean, deviation } };
      }
      return { texts: tokens && (await keepTokens(store.home, preprocessing, tokens.places)), normalization: null };
    },

    async transform({ job, path, more = [], preprocessing, force = false, match, report, keep: keepRows }) {
      const made = await jobs.run(job, async (running) => {
        await ready;
        if (!isImagePreprocessing(preprocessing)) {
          return transformFile({
            store,
            limits,
            path,
            preprocessing,
            force,
            match,
            report,
            keep: keepRows,
            job: running,
          });
        }
        const found = await inspectPath(path);
        const pictures = await transformImages({ store, limits, found, more, preprocessing, job: running });
        if (keepRows !== true) return pictures;
        const { files = [], output } = pictures.info;
        const workFolder = await store.makeAnyWorkFolder();
        return { ...pictures, kept: await KeptTable.ofFiles({ workFolder, files, output, limits }) };
      });
      return handles.keep(made);
    },

    async keepPredictions({ handle, values, probabilities }) {
      await keptOf(handle).add(values, probabilities);
    },

    keepNumbers: ({ handle, names, columns }) => keptOf(handle).addNumbers(names, columns),

    predictedRows: ({ handle, offset, limit }) => keptOf(handle).page(offset, limit),

    writePredictions: ({ job, handle, ...format }) => jobs.run(job, (running) => keptOf(handle).write(format, running)),

    async prepareRows({ dataset, rows, preprocessing }) {
      return handles.keep(await images.prepareRows(await store.readIntact(dataset), rows, preprocessing));
    },

    readShard({ handle, shard }) {
      const { info, rows } = handles.get(handle);
      const [start, end] = [info.shardStarts[shard], info.shardStarts[shard + 1]];
      if (start === undefined || end === undefined) {
        throw new RangeError(`There is no shard ${shard} of ${info.shardStarts.length - 1}.`);
      }
      return explainFailure(() => rows.read(start, end));
    },

    release: ({ handle }) => handles.release(handle),

    async rawRows({ dataset, ...request }) {
      const { columns } = await store.readIntact(dataset);
      const stored = columns.map((column) => column.stored);
      return read((connection) => readRawRows(connection, store.dataPath(dataset), stored, request));
    },

    onProgress: (listener) => jobs.onProgress(listener),

    async close() {
      await jobs.stop();
      await (await opened)?.stop();
      await handles.close();
      opened = null;
      await rm(spillFolder, { recursive: true, force: true });
    },
  };
}

/** A file with the content of one that was imported under another name goes by that name. */
async function knownContent({ kind, source }: DatasetInfo, path: string): Promise<DataWarning | null> {
  const { name } = await inspectPath(path);
  if (kind !== 'table' || name === source) return null;
  const message = `${name} has the same content as ${source}, which was imported before: it goes by that name.`;
  return { code: 'known_content', message };
}

/** SQL for each column as it is shown: texts to their last space. */
function shownCells({ info, columns }: Manifest): string {
  const stored = new Map(columns.map((column) => [column.stored.name, column.stored]));
  return info.columns
    .map(({ name, type }) => (type === 'text' ? quoteName(name) : storedCell(stored.get(name) ?? { name })))
    .join(', ');
}

/** Rows as they were imported. The row groups of the file make any page as cheap as the first. */
async function readPage(
  connection: DuckDBConnection,
  path: string,
  cells: string,
  total: number,
  offset: number,
  limit: number,
): Promise<RowPage> {
  const start = Math.max(0, Math.floor(offset));
  const end = Math.min(total, start + Math.max(0, Math.floor(limit)));
  const page = { offset: start, total };
  if (end <= start) return { ...page, rows: [] };
  const sql = `SELECT ${cells} FROM ${parquetTable(path)} WHERE file_row_number >= ${start} AND file_row_number < ${end}`;
  const reader = await explainFailure(() => connection.runAndReadAll(sql));
  return { ...page, rows: reader.getRowsJS().map((row) => row.map(cellValue)) };
}

/** Some of the rows, in the order asked for; those that there are not are left out. */
async function readSome(
  connection: DuckDBConnection,
  path: string,
  cells: string,
  offset: number,
  wanted: readonly number[],
  total: number,
): Promise<RowPage> {
  if (wanted.length === 0) return { offset, total, rows: [] };
  const sql = `SELECT file_row_number, ${cells} FROM ${parquetTable(path)} WHERE file_row_number IN (${wanted.map(Math.floor).join(', ')})`;
  const reader = await explainFailure(() => connection.runAndReadAll(sql));
  const found = new Map(reader.getRowsJS().map(([number, ...row]) => [Number(number), row.map(cellValue)]));
  return { offset, total, rows: wanted.flatMap((row) => [found.get(row) ?? []]) };
}

function cellValue(value: unknown): CellValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Date) return value.toISOString().replace('T00:00:00.000Z', '').replace('.000Z', 'Z');
  return String(value);
}
