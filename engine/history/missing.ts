// Files of runs that have gone: a folder somebody removed, a file that a disk or a tidy hand took. What was there is known from
// the list of checksums beside the files, from what every completed run leaves, and from where lists of checksums begin.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TrainyardError } from '../protocol/errors.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import { finalStates } from '../protocol/runs.ts';
import type { MissingFiles } from '../protocol/store.ts';
import type { RunFile } from '../protocol/runs.ts';
import { checksumName, checksumsFile, decodeChecksums } from './checksums.ts';
import type { Connection } from './database.ts';
import { createSettingsTable } from './notes.ts';
import { readConfig } from './readable.ts';
import type { RunRow } from './records.ts';

/** What a completed run leaves. */
const modelFiles: readonly RunFile[] = ['best.safetensors', 'model.json', 'preprocessing.json'];
/** Setting: the first run of this history whose files have checksums. Of runs before it nothing is known. */
const firstChecked = 'history.first_checked_run';

type Ended = Pick<RunRow, 'id' | 'state' | 'result' | 'config'>;

const folderOf = (home: string, run: number): string => join(home, 'runs', String(run));

/** Files that checksums are there for. */
function listedFiles(home: string, run: number): readonly string[] {
  try {
    return Object.keys(decodeChecksums(readFileSync(join(folderOf(home, run), checksumsFile), 'utf8')));
  } catch {
    return [];
  }
}

/** A killed run may have named a file that it did not come to write; a cross-validation leaves its files to its folds. */
const isComplete = ({ state, result, config }: Ended): boolean =>
  state === 'completed' && result !== null && !isCrossValidation(readConfig({ config, dataset: '' }));
const hasEnded = ({ state }: Ended): boolean => finalStates.has(state) && state !== 'interrupted' && state !== 'failed';

/** What to say of a file of a run that is not there; null: it has never been. */
export function goneError(home: string, row: Ended, file: RunFile): TrainyardError | null {
  const isModel = modelFiles.includes(file);
  if (!isModel && file !== 'checkpoint.bin') return null;
  const listed = hasEnded(row) && listedFiles(home, row.id).includes(file);
  if (!(isModel && isComplete(row)) && !listed) return null;
  const place = `runs/${row.id}`;
  return new TrainyardError(
    'run.file_gone',
    existsSync(folderOf(home, row.id))
      ? `Run ${row.id} was trained, but its file ${file} is gone from its folder, ${place} in the home.`
      : `Run ${row.id} was trained, but its folder, ${place} in the home, is gone, and its file ${file} with it.`,
    'Put a copy of it back if you have one, or train again with the settings of the run.',
  );
}

/** Whether a run that has ended kept a checkpoint, be it there or gone. */
export function keptCheckpoint(home: string, row: Ended): boolean {
  return hasEnded(row) && listedFiles(home, row.id).includes('checkpoint.bin');
}

/** Runs whose files are gone, and which. */
export function missingFiles(connection: Connection, home: string): readonly MissingFiles[] {
  const rows = connection.sql<[], Ended>('SELECT id, state, result, config FROM run ORDER BY id').all();
  return rows.flatMap((row) => {
    const wanted = new Set(hasEnded(row) ? listedFiles(home, row.id) : []);
    if (isComplete(row)) for (const file of modelFiles) wanted.add(file);
    const files = [...wanted].filter((file) => !existsSync(join(folderOf(home, row.id), file)));
    return files.length === 0 ? [] : [{ run: row.id, files }];
  });
}

/** Notes that files of a new run get checksums. Within a transaction. */
export function noteChecked(connection: Connection, run: number): void {
  const settings = createSettingsTable(connection);
  if (settings.get(firstChecked) === null) settings.set(firstChecked, run);
}

/** Whether the files of a run can be told from damaged ones, or never could: not where its list of checksums has gone. */
export function isChecked(connection: Connection, home: string, row: Ended): boolean {
  const first = createSettingsTable(connection).get(firstChecked);
  if (typeof first !== 'number' || row.id < first || !isComplete(row)) return true;
  return listedFiles(home, row.id).length > 0;
}

/** Whether there is a checksum of a run's file. */
export function hasChecksum(home: string, run: number, file: RunFile): boolean {
  return listedFiles(home, run).includes(checksumName(file));
}
