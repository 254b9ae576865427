// A copy of the history a day, in the folder `backups` of the home, the newest few of them kept. Made beside the calls, and
// only of a history that has been looked at. A copy has a seal of its own (seal.ts).

import { closeSync, openSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkAll, checkSchema } from './check.ts';
import { openDatabase } from './database.ts';
import { makeFolder } from './home.ts';
import { migrations } from './migrations.ts';
import type { History } from './open.ts';
import { repeat } from './repeat.ts';
import { fitsSeal, sealOf, writeSeal } from './seal.ts';

const keptBackups = 3;
const dayMilliseconds = 24 * 3_600_000;
const lookMilliseconds = 3_600_000;
/** Room that a backup leaves on the disk. */
const leftBytes = 2 ** 26;

const backupName = /^history-\d{4}-\d\d-\d\d\.db$/;

/** Where the backups of a home lie, the newest first. */
export function backupsOf(home: string): readonly string[] {
  try {
    const names = readdirSync(join(home, 'backups')).filter((name) => backupName.test(name));
    return names
      .sort()
      .reverse()
      .map((name) => join(home, 'backups', name));
  } catch {
    return [];
  }
}

/** Makes a backup when there is none of the last day, now and every hour. Returns what ends it. */
export function startBackups(home: string, history: History): () => Promise<void> {
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    await history.checked;
    if (!stopped && isDue(home, history)) await backUp(home, history, () => !stopped);
  };
  // A backup that fails is tried again within the hour; the history itself is as it was.
  const begin = (): Promise<void> => (working = working.then(look).catch(() => undefined));
  const stopLooking = repeat(lookMilliseconds, begin);
  void begin();
  return async () => {
    stopped = true;
    stopLooking();
    await working;
  };
}

function isDue(home: string, { connection }: History): boolean {
  const [newest] = backupsOf(home);
  if (newest !== undefined && Date.now() - statSync(newest).mtimeMs < dayMilliseconds) return false;
  const { some } = connection.sql<[], { some: number }>('SELECT EXISTS (SELECT 1 FROM run) AS some').get()!;
  const { bavail, bsize } = statfsSync(home);
  return some === 1 && bavail * bsize > 2 * statSync(connection.file).size + leftBytes;
}

async function backUp(home: string, { connection }: History, goOn: () => boolean): Promise<void> {
  const folder = join(home, 'backups');
  makeFolder(folder);
  const target = join(folder, `history-${new Date().toISOString().slice(0, 10)}.db`);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await connection.copyTo(temporary, goOn);
    const descriptor = openSync(temporary, 'r');
    try {
      writeSeal(target, sealOf(descriptor));
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(temporary + suffix, { force: true });
  }
  for (const old of backupsOf(home).slice(keptBackups)) {
    for (const suffix of ['', '-seal']) rmSync(old + suffix, { force: true });
  }
}

/** Whether a backup is whole. It has to be a copy that may be opened. */
export function isGoodBackup(file: string): boolean {
  try {
    if (!fitsSeal(file)) return false;
    const connection = openDatabase(file);
    try {
      checkAll(connection);
      const version = Number(connection.pragma('user_version'));
      const newest = migrations.at(-1)!.version;
      // One of an earlier version is brought up to date when it is used.
      if (version === newest) checkSchema(connection);
      return version > 0 && version <= newest;
    } finally {
      connection.close();
    }
  } catch {
    return false;
  }
}
