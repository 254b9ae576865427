// Opening and closing the history's file: what is lost or damaged is noticed here, before anybody takes what is left for the
// whole. Seal, write-ahead log, structure and schema are looked at, each where it has something to say.

import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { checkAll, checkBeside, checkedAtOnce, checkSchema } from './check.ts';
import { openDatabase } from './database.ts';
import type { Connection } from './database.ts';
import { damaged, databaseFileName, isFull } from './failures.ts';
import { refuseForeign } from './foreign.ts';
import { migrate, migrations } from './migrations.ts';
import { refuseNewer } from './newer.ts';
import { releaseReserve } from './reserve.ts';
import { fitsSeal, partsOf, readSeal, removeSeal, sealOf, writeSeal } from './seal.ts';
import type { Seal } from './seal.ts';
import { readLeftLog } from './wal.ts';

export interface History {
  readonly connection: Connection;
  /** It may be looked at, and what is changed is not kept. */
  readonly readOnly: boolean;
  /** Throws `store.corrupt` once the check beside the calls has found damage, `store.replaced` once another history has taken its place. */
  refuseDamage(): void;
  /** Resolves when all has been looked at. Rejects with `store.corrupt`. */
  readonly checked: Promise<void>;
  /** Seals the file, if nobody else has it open and it is still in its place. */
  close(inPlace?: boolean): void;
}

/** Larger files are not sealed: reading them as a whole would keep every close waiting. */
const largestSealed = 2 ** 29;
/** A file smaller than this is no database. */
const smallestDatabase = 512;

/**
 * Opens or creates the history in a folder, which is that of the home or a copy of it. Throws `store.corrupt`, `store.newer`,
 * `store.foreign`, `store.not_a_file` and what SQLite and the system throw.
 */
export function openHistory(home: string, folder: string = home): History {
  const file = join(folder, databaseFileName);
  refuseForeign(file);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? null;
  const seal = readSeal(file);
  refuseLost(home, file, size);
  if (seal?.state === 'open' && !hasLog(file)) throw damaged(file, 'its write-ahead log, history.db-wal, is gone');
  const log = readLeftLog(file);
  if (log.isDamaged) throw damaged(file, 'its write-ahead log, history.db-wal, has been changed');
  const sealed = seal?.state === 'closed' && logBytes(file) === 0;
  const small = (size ?? 0) <= checkedAtOnce;
  const fits = !sealed || (small ? fitsSeal(file) : seal.bytes === size);

  const newest = migrations.at(-1)!.version;
  // A newer program's seal may say something else, but no program is newer by so much.
  const likely = newest + 100;
  if (size !== null) refuseNewer(file, log, newest, fits ? Infinity : likely);

  let written = false;
  const connection = openWithReserve(home, file, () => {
    if (written) return;
    writeSeal(file, { state: 'open' });
    written = true;
  });
  try {
    const version = Number(connection.pragma('user_version'));
    if (!fits && (version <= newest || version > likely)) {
      throw damaged(file, 'it has changed since Trainyard closed it');
    }
    if (version > 0 && version <= newest && !sealed && small) checkAll(connection);
    migrate(connection);
    checkSchema(connection);
    refuseForgotten(home, connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  const check = small ? null : startCheck(connection, sealed ? seal : null, () => written);
  return {
    connection,
    readOnly: false,
    checked: check?.done ?? Promise.resolve(),
    refuseDamage: () => check?.refuse(),
    close(inPlace = true) {
      check?.stop();
      if (written && inPlace) sayClosing(file);
      connection.close();
      check?.let();
      if (!inPlace) return;
      if (written || readSeal(file)?.state !== 'closed') sealFile(file);
    },
  };
}

/** From here on the write-ahead log may go. Where that cannot be written (a full disk) there must be no seal at all. */
function sayClosing(file: string): void {
  try {
    writeSeal(file, { state: 'closing' });
  } catch {
    removeSeal(file);
  }
}

function openWithReserve(home: string, file: string, beforeWrite: () => void): Connection {
  try {
    return openDatabase(file, { beforeWrite });
  } catch (error) {
    if (!isFull(error, home) || !releaseReserve(home)) throw error;
    return openDatabase(file, { beforeWrite });
  }
}

function logBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function hasLog(file: string): boolean {
  return statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined;
}

/** Numbers of the run folders of a home. */
export function runFolders(home: string): readonly number[] {
  try {
    return readdirSync(join(home, 'runs'))
      .filter((name) => /^[1-9]\d*$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** SQLite takes an empty file, and one of a few bytes, for a new database. */
function refuseLost(home: string, file: string, size: number | null): void {
  if (size !== null && size > 0 && size < smallestDatabase) throw damaged(file, `it has ${size} bytes`);
  const runs = size === null || (size === 0 && logBytes(file) === 0) ? runFolders(home).length : 0;
  if (runs === 0) return;
  const found = size === null ? 'it is gone' : 'it is empty';
  throw damaged(file, `${found}, but the folder runs holds ${runs} run${runs === 1 ? '' : 's'}`);
}

/** An intact database that has never had a run, beside folders of runs, is another one's. */
function refuseForgotten(home: string, connection: Connection): void {
  const ever = connection.sql<[], { seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'run'").get();
  const runs = ever === undefined ? runFolders(home).length : 0;
  if (runs > 0) throw damaged(connection.file, `it has no runs, but the folder runs holds ${runs}`);
}

interface BackgroundCheck {
  readonly done: Promise<void>;
  refuse(): void;
  stop(): void;
  /** Lets go of the file, which has to wait until the connection is closed: POSIX locks end with any descriptor. */
  let(): void;
}

/** Looks at a large file in slices beside the calls: against its seal until somebody writes, else at its structure. */
function startCheck(connection: Connection, seal: Seal | null, isWritten: () => boolean): BackgroundCheck {
  let failure: Error | null = null;
  let stopped = false;
  const descriptor = openSync(connection.file, 'r');
  const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

  const sealHolds = async (): Promise<boolean> => {
    if (seal?.state !== 'closed') return false;
    let index = 0;
    let fits = true;
    for (const part of partsOf(descriptor)) {
      fits = part === seal.parts[index++];
      if (stopped || !fits) break;
      await breathe();
    }
    // Whoever writes breaks the seal first: what was read then says nothing.
    if (isWritten() || readSeal(connection.file)?.state !== 'closed') return false;
    if (!fits) throw damaged(connection.file, 'it has changed since Trainyard closed it');
    return true;
  };
  const work = async (): Promise<void> => {
    await breathe();
    if (await sealHolds()) return;
    await checkBeside(connection, () => !stopped);
  };
  const done = work().catch((error: unknown) => {
    if (stopped) return;
    failure = error instanceof Error ? error : new Error(String(error));
    throw failure;
  });
  done.catch(() => undefined);
  return {
    done,
    refuse() {
      if (failure) throw failure;
    },
    stop: () => (stopped = true),
    let: () => closeSync(descriptor),
  };
}

/** Seals a closed file, unless somebody has opened it meanwhile: nobody can while it is read. */
export function sealFile(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size > largestSealed || hasLog(file)) return;
  let database: Database.Database | null = null;
  let descriptor: number | null = null;
  try {
    database = new Database(file, { timeout: 0 });
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('schema_version');
    descriptor = openSync(file, 'r');
    writeSeal(file, sealOf(descriptor));
  } catch {
    // Busy, or the disk is full: a history without a seal is looked at more closely when it is opened.
  } finally {
    database?.close();
    if (descriptor !== null) closeSync(descriptor);
  }
}
