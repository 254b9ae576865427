// Importing a file: content hash → copy → types and profile → published as a whole. A dataset that exists already is
// used as it is.

import { rm, stat } from 'node:fs/promises';
import { dirname, parse } from 'node:path';
import type { DatasetInfo, DatasetSettings, ReadOptions } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { copyTable } from './copy.ts';
import type { CopiedTable } from './copy.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DatabaseLimits } from './database.ts';
import { describeTable, settleTable } from './describe.ts';
import type { Beside } from './describe.ts';
import { inspectPath, readHead } from './files.ts';
import type { FileHead } from './formats/format.ts';
import { importImages } from './images/import.ts';
import { holdsPictures } from './images/open.ts';
import { factsOf } from './intact.ts';
import type { Job } from './jobs.ts';
import { analyse } from './schema/analyse.ts';
import type { Analysis } from './schema/analyse.ts';
import type { DecimalMark } from './schema/numbers.ts';
import type { StoredColumn } from './schema/stored.ts';
import { columnsAtOnce, holdSample } from './schema/table.ts';
import { short, show } from './schema/typing.ts';
import type { MeasuredTable } from './schema/table.ts';
import { contentId, flush } from './store.ts';
import { readTextFolder, type TextFolder } from './text-folder.ts';
import type { Manifest } from './manifest.ts';
import type { DatasetStore } from './store.ts';

export interface ImportRequest {
  readonly path: string;
  readonly options: ReadOptions;
  readonly settings: DatasetSettings;
  readonly job: Job;
}

/**
 * Imports a file and returns the id of its dataset. Nothing is left behind if it fails.
 * @throws InputError if the file or the settings cannot be used, CancelledError if the job was cancelled.
 */
export async function importFile(store: DatasetStore, limits: DatabaseLimits, request: ImportRequest): Promise<string> {
  const { path, options, job } = request;
  const found = await inspectPath(path);
  const folder = found.folder ? await store.makeAnyWorkFolder() : null;
  try {
    const texts = folder && (await readTextFolder(found, { workFolder: folder, job, classes: true }));
    if (texts) return await importTable(store, limits, request, texts);
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true });
  }
  if (holdsPictures(found)) {
    return importImages(store, { found, options: options.image ?? {}, settings: request.settings, limits, job });
  }
  const head = await readHead(found.path, found.name, found.size);
  return importTable(store, limits, request, { head, reading: {}, warnings: [] });
}

/** `table`: what stands at the path, or what was made of it. */
async function importTable(
  store: DatasetStore,
  limits: DatabaseLimits,
  { options, settings, job }: ImportRequest,
  { head, reading, warnings }: TextFolder,
): Promise<string> {
  const failed = new AbortController();
  const hash = (): Promise<string> => contentId(head.path, options, job, failed.signal);
  if (await store.mayHave(head.name, head.size)) {
    job.stage('Checking');
    const known = await hash();
    if (await store.usable(known)) return known;
  }
  const workFolder = await store.makeWorkFolder();
  // A new file is hashed while it is read.
  const hashing = hash();
  // Awaited below; until then its failure is nobody else's business.
  hashing.catch(() => undefined);
  try {
    const { manifest, facts } = await copyTable(
      { head, options, workFolder, limits, job },
      async (database, copied) => {
        const id = await hashing;
        // While DuckDB looks at the copy, this thread has time to hash it.
        const facts = factsOf(dirname(copied.path), job);
        facts.catch(() => undefined);
        const told = { reading: { ...copied.reading, ...reading }, warnings: [...warnings, ...copied.warnings] };
        try {
          // A connection of its own: the first one looks at its progress all the time, which takes a tenth of the time here.
          const beside: Beside = (work) => database.use(work, job);
          const manifest = await beside((connection) =>
            examine(connection, beside, { ...copied, ...told }, { id, head, settings, job }),
          );
          return { manifest, facts: await facts };
        } finally {
          await Promise.allSettled([facts]);
        }
      },
    );
    job.throwIfCancelled();
    await store.publish(workFolder, manifest, facts);
    return manifest.info.id;
  } catch (error) {
    // Nobody needs to know what a file that cannot be read would be called.
    failed.abort();
    throw error;
  } finally {
    await Promise.allSettled([hashing]);
    await rm(workFolder, { recursive: true, force: true });
  }
}

/** Everything there is to find out about a copied table. */
async function examine(
  connection: DuckDBConnection,
  beside: Beside,
  { path, table: copied, columns, reading, warnings, decimal }: CopiedTable,
  about: {
    readonly id: string;
    readonly head: FileHead;
    readonly settings: DatasetSettings;
    readonly job: Job;
  },
): Promise<Manifest> {
  const { id, head, settings, job } = about;
  // The copy goes to disk while it is looked at; publishing makes sure of it.
  const flushing = flush(path);
  flushing.catch(() => undefined);
  const { analysis, held } = await analyseInParts(connection, copied, columns, decimal, job);
  const table = columns.length <= columnsAtOnce ? held : copied;
  job.throwIfCancelled();
  refuseLongNames(head.name, analysis);
  const importWarnings = [...warnings, ...analysis.warnings];
  const description = await describeTable(connection, beside, table, analysis.columns, importWarnings, {});
  // Settings that do not fit the file fail the import before anything is published.
  if (Object.keys(settings).length > 0) {
    await settleTable(connection, table, analysis.columns, settings);
  }
  await flushing;
  const { size } = await stat(path);
  const info: DatasetInfo = {
    id,
    name: parse(head.name).name,
    kind: 'table',
    source: head.name,
    rows: table.rows,
    sourceBytes: head.size,
    bytes: size,
    importedAt: Date.now(),
    reading,
    ...description,
  };
  return {
    version: 1,
    sourceBytes: head.size,
    info,
    columns: analysis.columns,
    importWarnings,
  };
}

/** UTF-16 units of a category at most: names are kept with all that is known of a dataset. */
const longestName = 1_000_000;

function refuseLongNames(source: string, { columns }: Analysis): void {
  for (const { info } of columns) {
    const longest = Math.max(0, ...(info.top ?? []).map(({ value }) => value.length));
    if (longest <= longestName) continue;
    throw new InputError(
      'input.long_value',
      `${source}: a value of ${short(info.name)} has ${show(longest)} characters, and the others are no texts.`,
      'See whether a quote or the end of a line is missing there; else leave that row or column out.',
    );
  }
}

/** Analyses a part of the columns after the other; the sample of the last part is still held. */
async function analyseInParts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly StoredColumn[],
  decimal: DecimalMark,
  job: Job,
): Promise<{ readonly analysis: Analysis; readonly held: MeasuredTable }> {
  const report = job.stage('Looking at the columns');
  const parts: Analysis[] = [];
  let held = table;
  for (let start = 0; start < columns.length; start += columnsAtOnce) {
    const part = columns.slice(start, start + columnsAtOnce);
    held = await holdSample(
      connection,
      table,
      part.map(({ name }) => name),
    );
    parts.push(await analyse(connection, held, part, decimal, start));
    job.throwIfCancelled();
    report((start + part.length) / columns.length);
  }
  const analysis = {
    columns: parts.flatMap((part) => part.columns),
    warnings: parts.flatMap((part) => part.warnings),
  };
  return { analysis, held };
}
