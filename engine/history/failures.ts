// What SQLite and the file system say, in words for people: what failed, where, and what to do.

import { InputError, TrainyardError } from '../protocol/errors.ts';

/** Turns any error of the store into one that names the cause; errors that do so already pass. */
export function explainFailure(error: unknown, home: string): TrainyardError {
  if (error instanceof TrainyardError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const cause = { cause: error };

  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new InputError(
      'store.full',
      `The disk that holds ${home} is full.`,
      'Free some space, or set TRAINYARD_HOME to a folder on another disk.',
      cause,
    );
  }
  if (/^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code) || ['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return new InputError(
      'store.readonly',
      `The folder ${home} cannot be written.`,
      'Give yourself the right to write there, or set TRAINYARD_HOME to another folder.',
      cause,
    );
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new InputError('store.not_a_folder', `${home} is not a folder.`, 'Set TRAINYARD_HOME to a folder.', cause);
  }
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new InputError(
      'store.corrupt',
      `The history file in ${home} is damaged or is no Trainyard history.`,
      'Put a backup in its place (history.v*.backup.db, if there is one), or move history.db away to start anew; runs and datasets stay in their folders.',
      cause,
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new TrainyardError(
      'store.busy',
      `Another process has kept the history in ${home} locked.`,
      'Wait for it to finish, or close it, and try again.',
      cause,
    );
  }
  const message = error instanceof Error ? error.message : String(error);
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
