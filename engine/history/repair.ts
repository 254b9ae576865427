// `trainyard repair`: a damaged history is kept under another name, and a new one is built of the newest backup that is whole,
// of what the damaged file still gives, and of the folders of the runs. It says what came from where, and what is lost.

import { copyFileSync, constants, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RepairReport } from '../protocol/store.ts';
import { backupsOf, isGoodBackup } from './backups.ts';
import { checkAll, checkSchema } from './check.ts';
import { openDatabase } from './database.ts';
import type { Connection } from './database.ts';
import { databaseFileName, explainFailure } from './failures.ts';
import { lastNumber, rebuildRuns, updateRuns } from './folders.ts';
import { refuseForeign } from './foreign.ts';
import { codeOf, makeFolder } from './home.ts';
import { haveHomeAlone, shareHome } from './lock.ts';
import { migrate } from './migrations.ts';
import { missingFiles } from './missing.ts';
import { unreadableParts } from './readable.ts';
import type { RunRow } from './records.ts';
import { openHistory, runFolders, sealFile } from './open.ts';
import { salvage } from './salvage.ts';
import type { Salvaged } from './salvage.ts';

/** Parts of a database that is open. */
const parts = ['', '-wal', '-shm', '-seal'] as const;

/**
 * Repairs the history of a home. Throws `store.newer`, `store.busy` while another process has it open, and what the system
 * says.
 */
export async function repairHome(home: string): Promise<RepairReport> {
  try {
    makeFolder(home);
    refuseForeign(join(home, databaseFileName));
    const found = await sharing(home, lookAt);
    return found.problem === null ? found : rebuild(home, found.problem);
  } catch (error) {
    throw explainFailure(error, home);
  }
}

async function sharing<Result>(home: string, work: (home: string) => Promise<Result>): Promise<Result> {
  const lock = shareHome(home);
  try {
    return await work(home);
  } finally {
    lock.release();
  }
}

/** What is wrong, in a sentence; null: nothing, but for files of runs that may be gone. */
async function lookAt(home: string): Promise<{ readonly problem: string } | Extract<RepairReport, { problem: null }>> {
  try {
    const history = openHistory(home);
    try {
      await history.checked;
      checkAll(history.connection);
      return { problem: null, ...missingIn(history.connection, home) };
    } finally {
      history.close();
    }
  } catch (error) {
    const explained = explainFailure(error, home);
    if (explained.code === 'store.corrupt') return { problem: explained.message };
    throw explained;
  }
}

function rebuild(home: string, problem: string): RepairReport {
  const file = join(home, databaseFileName);
  const lock = haveHomeAlone(home);
  const temporary = `${file}.${process.pid}.tmp`;
  removeAll(temporary);
  try {
    const backup = backupsOf(home).find(isGoodBackup) ?? null;
    if (backup !== null) copyFileSync(backup, temporary, constants.COPYFILE_FICLONE);
    const connection = openDatabase(temporary);
    let report: Filled;
    try {
      migrate(connection);
      checkSchema(connection);
      report = { ...fill(home, file, connection), ...missingIn(connection, home) };
      connection.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      connection.close();
    }
    const setAside = setAsideFile(home);
    renameSync(temporary, file);
    sealFile(file);
    return { problem, setAside, backup, ...report };
  } finally {
    removeAll(temporary);
    lock.release();
  }
}

function missingIn(connection: Connection, home: string): Pick<RepairReport, 'missing' | 'unreadable'> {
  const missing = missingFiles(connection, home);
  const unreadable = connection
    .sql<[], RunRow>('SELECT * FROM run ORDER BY id')
    .all()
    .map((row) => ({ run: row.id, parts: unreadableParts(row) }))
    .filter(({ parts }) => parts.length > 0);
  return { ...(missing.length > 0 && { missing }), ...(unreadable.length > 0 && { unreadable }) };
}

type Filled = Omit<Extract<RepairReport, { problem: string }>, 'problem' | 'setAside' | 'backup'>;

function fill(home: string, file: string, connection: Connection): Filled {
  const numbers = (): readonly number[] =>
    connection
      .sql<[], { id: number }>('SELECT id FROM run ORDER BY id')
      .all()
      .map(({ id }) => id);
  const ofBackup = numbers();
  const { runs: salvaged, incomplete } = salvageCopy(file, connection);
  const updated = updateRuns(connection, home, salvaged);
  const { runs: added, silent } = rebuildRuns(connection, home, 'all');
  const rebuilt = [...updated, ...added];
  // Numbers of runs are never used again, whether their rows could be read or not.
  const last = Math.max(lastNumber(connection), ...runFolders(home));
  connection.transaction(() => {
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'run'");
    connection.sql("INSERT INTO sqlite_sequence (name, seq) VALUES ('run', ?)").run(last);
  });
  const taken = new Set([...salvaged, ...rebuilt]);
  return { fromBackup: ofBackup.filter((run) => !taken.has(run)), salvaged, rebuilt, silent, incomplete };
}

/** Reads a copy: whoever wants to try other tools finds the damaged file as it was. */
function salvageCopy(file: string, connection: Connection): Salvaged {
  const copy = `${file}.${process.pid}.damaged.tmp`;
  removeAll(copy);
  try {
    if (!existsSync(file)) return { runs: [], incomplete: true, settings: 0 };
    for (const part of ['', '-wal'] as const) {
      if (existsSync(file + part)) copyFileSync(file + part, copy + part, constants.COPYFILE_FICLONE);
    }
    return salvage(copy, connection);
  } catch (error) {
    if (!/^SQLITE_(NOTADB|CORRUPT|ERROR|IOERR)/.test(codeOf(error))) throw error;
    return { runs: [], incomplete: true, settings: 0 };
  } finally {
    removeAll(copy);
  }
}

/** Renames the damaged file and what belongs to it; null if it is gone. */
function setAsideFile(home: string): string | null {
  const file = join(home, databaseFileName);
  if (!readdirSync(home).some((name) => parts.some((part) => name === databaseFileName + part))) return null;
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  let kept = join(home, `history.damaged-${time}.db`);
  for (let count = 2; existsSync(kept); count++) kept = join(home, `history.damaged-${time}-${count}.db`);
  for (const part of parts) if (existsSync(file + part)) renameSync(file + part, kept + part);
  return kept;
}

function removeAll(file: string): void {
  for (const part of [...parts, '-journal']) rmSync(file + part, { force: true });
}
