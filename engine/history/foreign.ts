// Is history.db a file of ours? Asked before anything is opened: SQLite changes a database in opening it the way the history
// is opened, and another program's is not to be touched. Ours says so in its header; of others, and of ours from before that, the
// schema is read from a copy of the first pages in memory.

import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { InputError } from '../protocol/errors.ts';
import { applicationOf, hasHeader, readStart } from './header.ts';
import { applicationId } from './schema.ts';

/** Tables of every version of the history. */
const ownTables: ReadonlySet<string> = new Set(['run', 'sample', 'summary', 'series', 'log', 'setting']);
/** Bytes read first; the whole file only where its schema goes on behind them. */
const headBytes = 2 ** 16;
/** Of larger files only the head is looked at. */
const largestRead = 2 ** 28;
/** Tables named in a message. */
const namedTables = 3;

/**
 * Throws InputError `store.foreign` for the database of another program and `store.not_a_file` for a folder. What cannot be
 * read is none of both: it is for others to find damaged.
 */
export function refuseForeign(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    throw new InputError(
      'store.not_a_file',
      `history.db in ${dirname(file)} is a folder.`,
      'Move it away: the history is a file of that name.',
    );
  }
  const tables = found === undefined ? [] : tablesOf(file, found.size);
  const own = tables.filter((name) => ownTables.has(name)).length;
  if (tables.length === 0 || own * 2 >= ownTables.size) return;
  const named = tables.slice(0, namedTables).join(', ') + (tables.length > namedTables ? ', …' : '');
  throw new InputError(
    'store.foreign',
    `${file} is a database, but no Trainyard history: it holds ${tables.length === 1 ? 'the table' : 'the tables'} ${named}.`,
    'Move it away, or set TRAINYARD_HOME to another folder; nothing has been changed.',
  );
}

/** Names of the tables of a file that does not say it is ours, as far as it tells. */
function tablesOf(file: string, size: number): readonly string[] {
  const descriptor = openSync(file, 'r');
  try {
    const start = readStart(descriptor, Math.min(size, headBytes));
    if (hasHeader(start) && applicationOf(start) === applicationId) return [];
    const head = tablesIn(start);
    return head ?? (size > largestRead ? null : tablesIn(readStart(descriptor, size))) ?? [];
  } finally {
    closeSync(descriptor);
  }
}

/** null: these pages do not hold all of the schema, or are no database. */
function tablesIn(bytes: Buffer): readonly string[] | null {
  if (bytes.length < 512 || !hasHeader(bytes)) return null;
  const written = bytes.readUInt16BE(16);
  const pageBytes = written === 1 ? 65_536 : written;
  if (pageBytes < 512 || bytes.length < pageBytes) return null;
  const pages = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % pageBytes)));
  // In memory there is no write-ahead log, and no page behind these.
  pages[18] = pages[19] = 1;
  pages.writeUInt32BE(pages.length / pageBytes, 28);
  let database: Database.Database | null = null;
  try {
    database = new Database(pages, { readonly: true });
    const query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    return database.prepare<[], string>(query).pluck().all() as string[];
  } catch {
    return null;
  } finally {
    database?.close();
  }
}
