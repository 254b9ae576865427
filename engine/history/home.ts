// The folder everything is kept in. Node's recursive mkdir never ends below /proc, so that a missing folder is made here,
// level by level, before anything else looks at it.

import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { InputError, TrainyardError } from '../protocol/errors.ts';

export const databaseFileName = 'history.db';

/** Within the home: a folder a run, of what was made of it for other tools. */
export const exportsFolder = 'exports';

/** The very file that is the history of a home, whatever it holds: another one is there after a restore. null: there is none. */
export function historyIdentity(home: string): string | null {
  const found = statSync(join(home, databaseFileName), { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/** What a process has to hear that served or used a history which is no longer there. */
export function replacedError(home: string): TrainyardError {
  return new TrainyardError(
    'store.replaced',
    `The history that this program has begun with is no longer in ${home}: a backup was restored, or the folder moved or exchanged.`,
    'Nothing more is written there. What a restore has replaced is kept in a folder before-restore-… of the home; bring back a folder that was moved. Start again.',
  );
}

/** Makes a folder and those above it. Throws InputError `store.no_folder` or `store.not_a_folder`, or what the system says. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !exists(path) && dirname(path) !== path; path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) makeOne(path, folder);
  if (statSync(folder).isDirectory()) return;
  throw new InputError('store.not_a_folder', `${folder} is not a folder.`, 'Set TRAINYARD_HOME to a folder.');
}

/** As makeFolder, and it may be written. Throws InputError `store.readonly` too. */
export function makeWritableFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw refusedFolder(error, folder) ?? error;
  }
}

/** Words for a folder that the system refuses; null: it has said something else. */
export function refusedFolder(error: unknown, folder: string): InputError | null {
  const code = codeOf(error);
  const cause = { cause: error };
  if (['EACCES', 'EPERM', 'EROFS'].includes(code) || /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code)) {
    return new InputError(
      'store.readonly',
      `The folder ${folder} cannot be written.`,
      'Give yourself the right to write there, or set TRAINYARD_HOME to another folder.',
      cause,
    );
  }
  if (code !== 'ENOTDIR' && code !== 'EEXIST') return null;
  return new InputError('store.not_a_folder', `${folder} is not a folder.`, 'Set TRAINYARD_HOME to a folder.', cause);
}

function makeOne(path: string, folder: string): void {
  try {
    // Runs and tables are their account’s alone, also where its own folder can be read by others.
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (codeOf(error) === 'EEXIST' && exists(path)) return;
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
    throw new InputError(
      'store.no_folder',
      `The folder ${folder} cannot be made.`,
      'Set TRAINYARD_HOME to a folder on a disk.',
      { cause: error },
    );
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The code of a system's error, or ''. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
