// Who has a home open. Every store holds a shared lock on `history.lock` while it serves; whoever exchanges what is in the home
// (restoring, rebuilding a damaged history) needs the exclusive one. The locks are SQLite's, on a database that stays empty: the
// system takes them from a process that is killed, and no other file tells of them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { TrainyardError } from '../protocol/errors.ts';
import { databaseFileName } from './failures.ts';
import { codeOf } from './home.ts';

const lockFileName = 'history.lock';
/** A store that closes takes a moment; a restore may take minutes. */
const patience = { shared: 2_000, alone: 1_000 } as const;

export interface HomeLock {
  release(): void;
}

/** For as long as a store serves. Throws `store.busy` while another process exchanges what is in the home. */
export function shareHome(home: string): HomeLock {
  return lock(home, patience.shared, ['BEGIN', 'SELECT * FROM sqlite_schema'], () => exchanged(home));
}

/** For whoever exchanges what is in the home. Throws `store.busy` while any other store has it open. */
export function haveHomeAlone(home: string): HomeLock {
  return lock(home, patience.alone, ['BEGIN EXCLUSIVE'], () => stillOpen(home));
}

function lock(home: string, timeout: number, statements: readonly string[], busy: () => Error): HomeLock {
  const database = new Database(join(home, lockFileName), { timeout });
  try {
    for (const statement of statements) database.exec(statement);
  } catch (error) {
    database.close();
    throw /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)) ? busy() : error;
  }
  return { release: () => void database.close() };
}

function exchanged(home: string): TrainyardError {
  return new TrainyardError(
    'store.busy',
    `${home} is being restored or repaired by another Trainyard.`,
    'Wait until that is done, and try again.',
  );
}

function stillOpen(home: string): TrainyardError {
  const [run] = runsThatGoOn(home);
  if (run === undefined) {
    return new TrainyardError(
      'store.busy',
      `Another Trainyard has the history in ${home} open.`,
      'Close it, and try again.',
    );
  }
  return new TrainyardError(
    'store.busy',
    `Another Trainyard has the history in ${home} open: run ${run.id} (“${run.name}”) is ${run.state}.`,
    `Let it end, or stop it (\`trainyard stop ${run.id}\`), and try again.`,
  );
}

interface GoingRun {
  readonly id: number;
  readonly name: string;
  readonly state: string;
}

/** As far as a history tells that may be damaged. */
function runsThatGoOn(home: string): readonly GoingRun[] {
  const file = join(home, databaseFileName);
  if (!existsSync(file)) return [];
  let database: Database.Database | null = null;
  try {
    database = new Database(file, { timeout: 1_000, fileMustExist: true, readonly: true });
    const going =
      "SELECT id, name, state FROM run WHERE state IN ('running', 'paused', 'queued') ORDER BY started_at DESC";
    return database.prepare<[], GoingRun>(going).all();
  } catch {
    return [];
  } finally {
    database?.close();
  }
}
