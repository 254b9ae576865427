// What of an error people are shown. Files are named without the folders they are in, and nothing of a program's inside (SQL, stack
// traces) is left. Errors that were not written for people, from the file system, SQLite, DuckDB or a bug, get words of their own.

import type { ErrorCode, WireError } from './wire-error.ts';

/** The same error for the window: no folder, no SQL, no stack in it. */
export function forPage(error: WireError): WireError {
  return { ...error, message: shownText(error.message) || unknownMessage, hint: shownText(error.hint) };
}

const unknownMessage = 'Something went wrong inside Trainyard.';

/** Words for an error that nobody has explained yet, by the code that Node, SQLite or the system gave it. */
export function describeUnknown(error: unknown): Omit<WireError, 'name'> {
  const { code, path } = (typeof error === 'object' && error !== null ? error : {}) as Readonly<
    Record<string, unknown>
  >;
  const known = typeof code === 'string' ? explanations.find(({ codes }) => codes.test(code)) : undefined;
  if (known) {
    const file = typeof path === 'string' ? baseName(path) : '';
    return { code: known.as, message: known.message(file ? `“${file}”` : 'A file'), hint: known.hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal.error', message: shownText(message) || unknownMessage, hint: '' };
}

interface Explanation {
  readonly codes: RegExp;
  readonly as: ErrorCode;
  readonly message: (file: string) => string;
  readonly hint: string;
}

const explanations: readonly Explanation[] = [
  {
    codes: /^(ENOSPC|EDQUOT|SQLITE_FULL)$/,
    as: 'data.disk_full',
    message: () => 'The disk is full.',
    hint: 'Free some space and try again.',
  },
  {
    codes: /^(ENOENT|ENOTDIR)$/,
    as: 'data.file_missing',
    message: (file) => `${file} is not there any more.`,
    hint: 'Put it back, or import it again.',
  },
  {
    codes: /^(EACCES|EPERM|EROFS|SQLITE_(READONLY|CANTOPEN|PERM|AUTH)\w*)$/,
    as: 'data.file_refused',
    message: (file) => `${file} may not be read or written.`,
    hint: 'Give yourself permission to read and write it.',
  },
  {
    codes: /^(EMFILE|ENFILE)$/,
    as: 'device.too_many_files',
    message: () => 'Too many files are open at once.',
    hint: 'Close other programs and try again.',
  },
  {
    codes: /^(EIO|SQLITE_IOERR\w*)$/,
    as: 'data.disk',
    message: (file) => `${file} could not be read or written.`,
    hint: 'Check the disk.',
  },
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)\w*$/,
    as: 'store.damaged',
    message: () => 'The history’s file is damaged.',
    hint: 'Put a backup in its place.',
  },
  {
    codes: /^SQLITE_/,
    as: 'store.failed',
    message: () => 'The history could not be read or written.',
    hint: 'Try again.',
  },
];

/** Text without folders, SQL and stack traces. */
export function shownText(text: string): string {
  const [told] = text.split(/\n\s+at |\n+LINE \d+:/);
  const statement = told.search(sql);
  const without = statement < 0 ? told : told.slice(0, statement).replace(/[\s:("'`]+$/, '');
  return without
    .replace(quotedPath, (_whole, open: string, path: string, close: string) => open + baseName(path) + close)
    .replace(barePath, (_whole, before: string, path: string) => before + baseName(path));
}

/** Statements as the history and the data host write them: keywords in capitals. */
const sql =
  /\b(SELECT\s[\s\S]*\bFROM\b|SELECT\s+[*\w"]|INSERT\s+(OR\s+\w+\s+)?INTO\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b|CREATE\s+(OR\s+REPLACE\s+)?((TEMP|TEMPORARY|UNIQUE)\s+)?(TABLE|INDEX|VIEW|TRIGGER)\b|ALTER\s+TABLE\b|DROP\s+(TABLE|INDEX|VIEW)\b|COPY\s*\(|COPY\s+\S+\s+(TO|FROM)\b|PRAGMA\s+\w|ATTACH\s+['"D]|WITH\s+\w+\s+AS\s*\(|read_(csv|parquet|json)\w*\()/;

const quotedPath = /(["'`“‘])((?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^"'`”’\n]*)(["'`”’])/g;

/**
 * An absolute path among words. Folders may have up to three blanks in their names where a slash ends them; a slash between numbers
 * or words ("3/4", "rows/s") is no path.
 */
const barePath =
  /(^|[\s(=:,;[<“‘])((?:file:\/\/)?(?:[A-Za-z]:[\\/]|[\\/]|~\/)(?:[^\s\\/"'`]+(?: [^\s\\/.:"'`]+){0,3}[\\/]+)*[^\s\\/"'`()<>,;]*[\w)])/g;

/** The last part of a path; punctuation that follows stays. */
function baseName(path: string): string {
  const parts = path.split(/[\\/]+/).filter(Boolean);
  return parts[parts.length - 1] ?? '';
}
