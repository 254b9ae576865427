// A home taken from a backup. It is read into a folder beside, as a whole, and looked at; only then what was there is put aside and
// what has come takes its place. The exchange is a list of renames that is noted first: whoever opens the home next finishes it.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, TrainyardError } from '../../protocol/errors.ts';
import type { ArchiveHead, RestoreReport } from '../../protocol/keeping.ts';
import { checkBeside, checkSchema } from '../check.ts';
import { openDatabase } from '../database.ts';
import { codeOf, exportsFolder, makeFolder } from '../home.ts';
import { databaseFileName, explainFailure } from '../failures.ts';
import { refuseForeign } from '../foreign.ts';
import { haveHomeAlone } from '../lock.ts';
import { migrate } from '../migrations.ts';
import { sealFile } from '../open.ts';
import { datasetsOf, ownFiles } from './contents.ts';
import { readArchive } from './read.ts';
import type { Watched } from './tar.ts';

/** Holds what has been read, until it is in its place. */
const stagingName = '.restoring';
/** Within it: there as soon as the exchange has begun. */
const noteName = 'exchange.json';
/** What a restored history replaces. Datasets are what they are by their content: those of the backup come to those here. */
const replaced: readonly string[] = [
  databaseFileName,
  `${databaseFileName}-wal`,
  `${databaseFileName}-shm`,
  `${databaseFileName}-seal`,
  'runs',
  'backups',
  exportsFolder,
  'hardware/catalogue.json',
];

interface Exchange {
  /** Folder in the home that takes what was there; null: there was nothing. */
  readonly aside: string | null;
  /** Of `replaced`: what was there, and what comes. */
  readonly old: readonly string[];
  readonly come: readonly string[];
}

/**
 * Restores a home from a backup; what was there is kept in a folder of the home. Throws `input.archive`, `store.newer`, `store.busy` while
 * another process has the history open, `store.full`, CancelledError: then the home is as it was.
 */
export async function restoreHome(home: string, file: string, watched: Watched): Promise<RestoreReport> {
  try {
    makeFolder(home);
    refuseForeign(join(home, databaseFileName));
    const lock = haveHomeAlone(home);
    const staging = join(home, stagingName);
    try {
      exchange(home);
      rmSync(staging, { recursive: true, force: true });
      const { head } = await readArchive(file, {
        ...watched,
        stage: 'Reading the backup',
        share: [0, 1],
        into: staging,
      });
      if (head.kind !== 'home') throw onlyRuns(head);
      await lookAtHistory(join(staging, databaseFileName));
      const old = isEmptyHome(home) ? [] : replaced.filter((name) => existsSync(join(home, name)));
      const come = replaced.filter((name) => existsSync(join(staging, name)));
      const aside = old.length === 0 ? null : asideName(home);
      if (old.length === 0) for (const name of replaced) rmSync(join(home, name), { recursive: true, force: true });
      writeFileSync(join(staging, noteName), JSON.stringify({ aside, old, come } satisfies Exchange), { flush: true });
      exchange(home);
      return { head, setAside: aside === null ? null : join(home, aside) };
    } finally {
      rmSync(staging, { recursive: true, force: true });
      lock.release();
    }
  } catch (error) {
    throw explainFailure(error, home);
  }
}

/** Finishes an exchange that a killed process has begun. Cheap where there is none. Throws `store.busy` while others have the home open. */
export function finishRestore(home: string): void {
  if (!existsSync(join(home, stagingName, noteName))) return;
  const lock = haveHomeAlone(home);
  try {
    exchange(home);
  } finally {
    lock.release();
  }
}

/** With the home for itself. */
function exchange(home: string): void {
  const staging = join(home, stagingName);
  const note = join(staging, noteName);
  if (!existsSync(note)) return;
  const { aside, old, come } = JSON.parse(readFileSync(note, 'utf8')) as Exchange;
  // All that was there goes before anything comes: so a name still here that has not gone is an old one.
  if (aside !== null) for (const name of old) moveOnce(join(home, name), join(home, aside, name));
  for (const name of come) if (existsSync(join(staging, name))) move(join(staging, name), join(home, name));
  for (const id of datasetsOf(staging)) {
    const target = join(home, 'datasets', id);
    if (!existsSync(target)) move(join(staging, 'datasets', id), target);
  }
  sealFile(join(home, databaseFileName));
  rmSync(staging, { recursive: true, force: true });
}

function moveOnce(source: string, target: string): void {
  if (!existsSync(target) && existsSync(source)) move(source, target);
}

function move(source: string, target: string): void {
  mkdirSync(join(target, '..'), { recursive: true });
  renameSync(source, target);
}

/** A history that nothing was ever done with: daily backups are made of runs alone. */
function isEmptyHome(home: string): boolean {
  const file = join(home, databaseFileName);
  const holds = (folder: string): boolean =>
    existsSync(join(home, folder)) && readdirSync(join(home, folder)).length > 0;
  if (['runs', 'backups', exportsFolder].some(holds) || ownFiles.some((name) => existsSync(join(home, name))))
    return false;
  if (!existsSync(file)) return true;
  try {
    const connection = openDatabase(file);
    try {
      const query =
        'SELECT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM setting) OR EXISTS (SELECT 1 FROM lab) AS some';
      return connection.sql<[], { some: number }>(query).get()!.some === 0;
    } finally {
      connection.close();
    }
  } catch {
    return false;
  }
}

/** `before-restore-2026-11-22T10-00-00` */
function asideName(home: string): string {
  const name = `before-restore-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`;
  for (let count = 1; ; count++) {
    const tried = count === 1 ? name : `${name}-${count}`;
    if (statSync(join(home, tried), { throwIfNoEntry: false }) === undefined) return tried;
  }
}

/** As it will be opened: brought to this version, with the tables of a history and nothing else in it. */
export async function lookAtHistory(file: string): Promise<void> {
  try {
    if (!existsSync(file)) throw new TrainyardError('store.corrupt', 'it holds no history');
    const connection = openDatabase(file);
    try {
      await checkBeside(connection);
      migrate(connection);
      checkSchema(connection);
      connection.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      connection.close();
      // Made where a history of an earlier version is changed; the archive itself is the copy of it.
      for (const name of readdirSync(join(file, '..'))) {
        if (/\.v\d+\.backup\.db$/.test(name)) rmSync(join(file, '..', name), { force: true });
      }
    }
  } catch (error) {
    if (error instanceof TrainyardError && ['store.newer', 'store.foreign'].includes(error.code)) throw error;
    if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'SQLITE_FULL') throw error;
    const { message } = error as Error;
    throw new InputError(
      'input.archive',
      `The history in the file cannot be used: ${message.replace(/\.?$/, '.')}`,
      'Give another copy of it.',
      {
        cause: error,
      },
    );
  }
}

function onlyRuns({ runs }: ArchiveHead): InputError {
  return new InputError(
    'input.archive',
    `The file holds ${runs === 1 ? 'a run' : `${runs} runs`}, not a whole home.`,
    'Take them up with `trainyard runs import`.',
  );
}
