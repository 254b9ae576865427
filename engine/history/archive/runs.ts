// Single runs from one machine to another: some runs of a home in a file of the form of a backup, with a history of their own, and taken
// up elsewhere under new numbers. A run that is here already, from this file or another one, is not taken up again.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CancelledError, InputError } from '../../protocol/errors.ts';
import { refusedText } from '../../protocol/import-text.ts';
import type {
  ArchiveHead,
  ArchiveReport,
  ImportedRun,
  ImportReport,
  RefusedRun,
  RunOrigin,
} from '../../protocol/keeping.ts';
import { checksumsFile } from '../checksums.ts';
import { openDatabase } from '../database.ts';
import type { Connection } from '../database.ts';
import { databaseFileName } from '../failures.ts';
import type { RunFiles } from '../files.ts';
import { migrate } from '../migrations.ts';
import { createLogTable } from '../notes.ts';
import { noteChecked } from '../missing.ts';
import { parseRow } from '../records.ts';
import type { WholeRow } from '../records.ts';
import { UnknownSeriesError } from '../series.ts';
import { withFolds } from '../runs.ts';
import { carryRun, findRun, identityOf, originOf, rowsOf } from './carry.ts';
import { bytesOf, contentsOf, datasetsOf, refuseOwnPlace, runContents } from './contents.ts';
import { whyUnusable } from './examine.ts';
import { readArchive } from './read.ts';
import { lookAtHistory } from './restore.ts';
import type { Watched } from './tar.ts';
import { writeArchive } from './write.ts';

export interface RunsExport {
  readonly home: string;
  readonly connection: Connection;
  readonly runs: readonly number[];
  readonly file: string;
  readonly datasets: boolean;
}

/** The folds of cross-validations come along. Throws what `writeArchive` throws, `input.unknown_run`, and `input.run_active` for a run that goes on. */
export async function exportRuns(request: RunsExport, watched: Watched): Promise<ArchiveReport> {
  const { home, connection, file } = request;
  refuseOwnPlace(home, file);
  for (const run of request.runs) rowOf(connection, run);
  const numbers = withFolds(connection, request.runs);
  const rows = numbers.map((run) => rowOf(connection, run));
  const datasets = request.datasets
    ? [...new Set(rows.map(({ dataset }) => dataset))].filter((id) => datasetsOf(home).includes(id))
    : [];
  const files = [
    ...numbers.flatMap((run) => runContents(home, run)),
    ...datasets.flatMap((id) => contentsOf(home, `datasets/${id}`)),
  ];
  const head: ArchiveHead = {
    format: 1,
    kind: 'runs',
    created: Date.now(),
    machine: hostname(),
    runs: rows.length,
    datasets: datasets.length,
  };
  const history = `${file}.${process.pid}.history`;
  const remove = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(history + suffix, { force: true });
  };
  process.once('exit', remove);
  try {
    return await writeArchive(
      file,
      {
        head,
        bytes: bytesOf(files),
        stage: 'Writing the runs',
        async fill(writer) {
          remove();
          const small = openDatabase(history);
          try {
            migrate(small);
            for (const run of numbers) {
              // Somebody may have resumed it meanwhile.
              const row = rowOf(connection, run);
              small.transaction(() =>
                carried(run, () => carryRun(connection, small, row, { id: run, origin: row.origin })),
              );
              await breathe(watched);
            }
            small.pragma('journal_mode = DELETE');
          } finally {
            small.close();
          }
          await writer.file(databaseFileName, history);
          for (const { path } of files) await writer.file(path, join(home, path));
        },
      },
      watched,
    );
  } finally {
    remove();
    process.off('exit', remove);
  }
}

function carried<Result>(run: number, carry: () => Result): Result {
  try {
    return carry();
  } catch (error) {
    if (!(error instanceof UnknownSeriesError)) throw error;
    throw new InputError('run.unreadable', `The curves of run ${run} cannot be read.`, 'Leave it out.', {
      cause: error,
    });
  }
}

/** Lets calls of others in between two runs. Throws CancelledError. */
async function breathe({ goOn }: Watched): Promise<void> {
  await setImmediate();
  if (!goOn()) throw new CancelledError();
}

function rowOf(connection: Connection, run: number): WholeRow {
  const row = parseRow(connection.sql<[number], unknown>('SELECT * FROM run WHERE id = ?').get(run));
  if (row === null) {
    throw new InputError('input.unknown_run', `There is no run ${run}.`, 'List the runs to see their numbers.');
  }
  if (!['queued', 'running', 'paused'].includes(row.state)) return row;
  throw new InputError('input.run_active', `Run ${run} (“${row.name}”) is ${row.state}.`, 'Stop it first.');
}

export interface RunsImport {
  readonly home: string;
  readonly connection: Connection;
  readonly files: RunFiles;
  readonly file: string;
  /** Called with the number of each run that is there now. */
  readonly onImported: (run: number) => void;
}

/**
 * Takes up the runs of a file, or those of a backup that are not in its trash. Throws `input.archive`, `store.newer`, CancelledError: what
 * has been taken up by then stays, and is known the next time.
 */
export async function importRuns(request: RunsImport, watched: Watched): Promise<ImportReport> {
  const { home, file } = request;
  const staging = mkdtempSync(join(home, '.importing-runs-'));
  try {
    const { head } = await readArchive(file, { ...watched, stage: 'Reading the file', share: [0, 0.5], into: staging });
    await lookAtHistory(join(staging, databaseFileName));
    const source = openDatabase(join(staging, databaseFileName));
    try {
      const taken = await takeUp(request, source, { staging, head, watched });
      return { machine: head.machine, ...taken, datasets: takeDatasets(home, staging) };
    } finally {
      source.close();
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function takeUp(
  { home, connection, files, onImported }: RunsImport,
  source: Connection,
  { staging, head, watched }: { readonly staging: string; readonly head: ArchiveHead; readonly watched: Watched },
): Promise<Pick<ImportReport, 'imported' | 'known' | 'refused'>> {
  const imported: ImportedRun[] = [];
  const known: ImportedRun[] = [];
  const refused: RefusedRun[] = [];
  /** Numbers here by those in the file: parents have lower ones than their children. */
  const numbers = new Map<number, number>();
  const rows = rowsOf(source);
  for (const [index, row] of rows.entries()) {
    watched.onProgress({ stage: 'Taking up the runs', share: 0.5 + (0.5 * index) / rows.length });
    await breathe(watched);
    if (row === null) {
      refused.push({ from: null, name: '', why: 'its row cannot be read' });
      continue;
    }
    if (head.kind === 'home' && row.deleted_at !== null) continue;
    const { id: from, name } = row;
    const identity = identityOf(row);
    const here = findRun(connection, identity);
    if (here !== null) {
      known.push({ from, run: here, name });
      numbers.set(from, here);
      continue;
    }
    const why = await whyUnusable(source, row, join(staging, 'runs', String(from)));
    if (why !== null) {
      refused.push({ from, name, why });
      continue;
    }
    const origin: RunOrigin = {
      run: identity.run,
      machine: originOf(row)?.machine ?? head.machine,
      importedAt: Date.now(),
    };
    const run = connection.transaction(() => {
      const created = carryRun(
        source,
        connection,
        { ...row, deleted_at: null, ...familyOf(row, numbers) },
        { id: null, origin: JSON.stringify(origin) },
      );
      files.setAside(created);
      const message = `Taken over from ${origin.machine}, where it is run ${origin.run}.`;
      createLogTable(connection).append(created, [{ time: origin.importedAt, level: 'info', message }]);
      const folder = join(staging, 'runs', String(from));
      mkdirSync(join(home, 'runs'), { recursive: true });
      if (existsSync(folder)) renameSync(folder, join(home, 'runs', String(created)));
      if (existsSync(join(home, 'runs', String(created), checksumsFile))) noteChecked(connection, created);
      return created;
    });
    numbers.set(from, run);
    imported.push({ from, run, name });
    onImported(run);
  }
  if (imported.length === 0 && known.length === 0 && refused.length > 0) throw nothingUsable(refused);
  return { imported, known, refused };
}

function nothingUsable([first, ...more]: readonly RefusedRun[]): InputError {
  const others = more.length === 0 ? '' : ` So ${more.length === 1 ? 'is another one' : `are ${more.length} others`}.`;
  return new InputError('input.archive', `${refusedText(first)}${others}`, 'Give another copy of the file.');
}

/** A parent that has not come too is none here: its number there says nothing. */
function familyOf({ parent, relation, start }: WholeRow, numbers: ReadonlyMap<number, number>): Partial<WholeRow> {
  const here = parent === null ? undefined : numbers.get(parent);
  return here === undefined ? { parent: null, relation: null, start: null } : { parent: here, relation, start };
}

function takeDatasets(home: string, staging: string): number {
  const wanted = datasetsOf(staging).filter((id) => !existsSync(join(home, 'datasets', id)));
  for (const id of wanted) {
    mkdirSync(join(home, 'datasets'), { recursive: true });
    renameSync(join(staging, 'datasets', id), join(home, 'datasets', id));
  }
  return wanted.length;
}
