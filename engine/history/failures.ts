// What SQLite and the file system say, in words for people: what failed, where, and what to do.

import { accessSync, constants, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import { codeOf, databaseFileName, refusedFolder } from './home.ts';

export { databaseFileName };

/** Turns any error of the store into one that names the cause; errors that do so already pass. */
export function explainFailure(error: unknown, home: string): TrainyardError {
  if (error instanceof TrainyardError) return error;
  const code = codeOf(error);
  const cause = { cause: error };

  if (isFull(error, home)) {
    return new InputError(
      'store.full',
      `The disk that holds ${home} is full.`,
      'Free some space, or set TRAINYARD_HOME to a folder on another disk.',
      cause,
    );
  }
  const refused = refusedFolder(error, home);
  if (refused) return refusedFile(refused, home) ?? refused;
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return damaged(join(home, databaseFileName), error instanceof Error ? error.message : code, cause);
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new TrainyardError(
      'store.busy',
      `Another process has kept the history in ${home} locked.`,
      'Wait for it to finish, or close it, and try again.',
      cause,
    );
  }
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  if (/^(SQLITE_IOERR|E[A-Z]+$)/.test(code)) {
    return new TrainyardError(
      'store.io',
      `Reading or writing in ${home} failed: ${message}.`,
      'Check the disk.',
      cause,
    );
  }
  return new TrainyardError('store.failed', `The history in ${home} failed: ${message}.`, '', cause);
}

/** Words for a file of a folder that may be written; null: it is the folder. */
function refusedFile({ code, cause }: InputError, home: string): InputError | null {
  if (code !== 'store.readonly') return null;
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return null;
  }
  const { path: file = join(home, databaseFileName) } = cause as NodeJS.ErrnoException;
  return new InputError(
    'store.readonly',
    `${file} may not be read and written by this account.`,
    'Give yourself the right to both, or set TRAINYARD_HOME to another folder.',
    { cause },
  );
}

/** A history that is not to be used as it is. `what` is part of a sentence. */
export function damaged(file: string, what: string, options?: { readonly cause?: unknown }): InputError {
  return new InputError(
    'store.corrupt',
    `The history ${file} is damaged or is no Trainyard history: ${what.replace(/\.$/, '')}.`,
    'Run `trainyard repair`: it keeps the file, and rebuilds the history from its backup and the folders of the runs.',
    options,
  );
}

/** Bytes below which a failed write is taken for a full disk: SQLite does not always say so. */
const nearlyNothing = 2 ** 16;

/** Whether an error comes from a full disk. */
export function isFull(error: unknown, home: string): boolean {
  const code = codeOf(error);
  if (['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'store.full'].includes(code)) return true;
  if (!/^SQLITE_IOERR|^SQLITE_CANTOPEN/.test(code)) return false;
  try {
    const { bavail, bsize } = statfsSync(home);
    return bavail * bsize < nearlyNothing;
  } catch {
    return false;
  }
}
