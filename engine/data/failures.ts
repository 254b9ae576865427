// What can go wrong outside our code, the disk above all, told so that a person knows what to do.

import { InputError, TrainyardError } from '../protocol/errors.ts';

/** Runs `work`; a failure of the file system or of DuckDB that a person can mend comes out as an InputError. */
export async function explainFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
}

/** The error a person should see for `error`; errors that are already ours, and unknown ones, stay as they are. */
export function explain(error: unknown): unknown {
  if (error instanceof TrainyardError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const where = 'path' in error && typeof error.path === 'string' ? ` (${error.path})` : '';
  const { message } = error;
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left on device|disk quota exceeded/i.test(message)) {
    return new InputError(
      'input.disk_full',
      `The disk is full: nothing more could be written${where}.`,
      'Free some space, or set TRAINYARD_HOME to a folder on another disk, and try again.',
      { cause: error },
    );
  }
  if (code === 'EFBIG' || /file too large/i.test(message)) {
    return new InputError(
      'input.file_too_large',
      `A file became larger than its disk allows${where}: FAT32 holds none of 4 GB, and a session may have a limit of its own.`,
      'Set TRAINYARD_HOME to a folder on another disk, and try again.',
      { cause: error },
    );
  }
  if (code === 'EROFS' || /read-only file system/i.test(message)) return readOnlyHome(error, where);
  if (/out of memory error/i.test(message)) {
    return new InputError(
      'input.memory',
      'The data needs more memory than there is for it.',
      'Close other programs, or use a table with fewer columns.',
      { cause: error },
    );
  }
  return error;
}

/** Explains a failure to write below the home folder. */
export function explainHome(error: unknown, home: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    code === 'ENOENT' ||
    code === 'EEXIST'
  ) {
    return readOnlyHome(error as Error, ` (${home})`);
  }
  return explain(error);
}

function readOnlyHome(cause: Error, where: string): InputError {
  return new InputError(
    'input.read_only_home',
    `The folder for datasets and runs cannot be written${where}.`,
    'Make it writable, or set TRAINYARD_HOME to a folder you can write to.',
    { cause },
  );
}

/** The first line of a message, which is the part that speaks to people. */
export function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
