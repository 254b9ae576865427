// What takes how much room in a home, and what of it can be had back.

import { lstatSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { usageIds } from '../protocol/keeping.ts';
import type { HomeUsage, UsageId } from '../protocol/keeping.ts';
import type { Connection } from './database.ts';
import { databaseFileName } from './failures.ts';
import { trashDays } from './trash.ts';

const ofHistory = new RegExp(`^${databaseFileName.replace('.', '\\.')}(-wal|-shm|-seal)?$`);
const ofBackups = /^backups$|^history\.v\d+\.backup\.db$/;
/** What repairs and restores have put aside, and folders that a number was needed of. */
const asideInHome = /^(history\.damaged-|before-restore-)/;
const asideInRuns = /^\d+\.old-/;
const asideInDatasets = /^\.damaged-/;

/** Runs looked at before others get their turn. */
const slice = 50;

/** Reads the sizes of all files beside the calls: of ten thousand runs within a second or two. */
export async function usageOf(home: string, connection: Connection): Promise<HomeUsage> {
  const bytes = new Map<UsageId, number>(usageIds.map((id) => [id, 0]));
  const counts = new Map<UsageId, number>(usageIds.map((id) => [id, 0]));
  const add = (id: UsageId, size: number, count = 1): void => {
    bytes.set(id, bytes.get(id)! + size);
    if (size > 0) counts.set(id, counts.get(id)! + count);
  };
  for (const name of namesIn(home)) {
    const path = join(home, name);
    if (name === 'runs' || name === 'datasets') continue;
    if (ofHistory.test(name)) add('history', sizeOf(path), 0);
    else if (ofBackups.test(name)) add('backups', sizeOf(path), name === 'backups' ? backupsIn(path) : 1);
    else add(asideInHome.test(name) ? 'set_aside' : 'other', sizeOf(path));
  }
  const trashed = new Set(
    connection
      .sql<[], { id: number }>('SELECT id FROM run WHERE deleted_at IS NOT NULL')
      .all()
      .map(({ id }) => String(id)),
  );
  for (const [index, name] of namesIn(join(home, 'runs')).entries()) {
    if (index % slice === 0) await new Promise((resolve) => setImmediate(resolve));
    const folder = join(home, 'runs', name);
    if (asideInRuns.test(name)) add('set_aside', sizeOf(folder));
    else if (trashed.has(name) || !/^\d+$/.test(name)) add('trash', sizeOf(folder));
    else {
      const checkpoints = namesIn(folder).filter((file) => file.startsWith('checkpoint'));
      const size = checkpoints.reduce((sum, file) => sum + sizeOf(join(folder, file)), 0);
      add('checkpoints', size);
      add('weights', sizeOf(folder) - size);
    }
  }
  for (const name of namesIn(join(home, 'datasets'))) {
    const id = asideInDatasets.test(name) ? 'set_aside' : name.startsWith('.') ? 'other' : 'datasets';
    add(id, sizeOf(join(home, 'datasets', name)));
  }
  const free = Number(connection.pragma('freelist_count')) * Number(connection.pragma('page_size'));
  const logs = connection
    .sql<[], { bytes: number; lines: number }>(
      'SELECT total(length(message) + 24) AS bytes, count(*) AS lines FROM log',
    )
    .get()!;
  bytes.set('free', free);
  bytes.set('logs', logs.bytes);
  counts.set('logs', logs.lines);
  bytes.set('history', Math.max(0, bytes.get('history')! - free - logs.bytes));
  counts.set('history', connection.sql<[], { runs: number }>('SELECT count(*) AS runs FROM run').get()!.runs);
  counts.set('trash', trashed.size);
  const { bavail, bsize } = statfsSync(home);
  const parts = usageIds.map((id) => ({ id, bytes: bytes.get(id)!, count: counts.get(id)! }));
  return { parts, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), left: bavail * bsize, trashDays };
}

/** Removes what has been set aside; returns the bytes it held. */
export function dropSetAside(home: string): number {
  let bytes = 0;
  for (const [folder, pattern] of [
    [home, asideInHome],
    [join(home, 'runs'), asideInRuns],
    [join(home, 'datasets'), asideInDatasets],
  ] as const) {
    for (const name of namesIn(folder).filter((name) => pattern.test(name))) {
      bytes += sizeOf(join(folder, name));
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
  return bytes;
}

/** Gives back to the disk what the history's file has no use for (sqlite.org/lang_vacuum.html): it is written anew, which takes its size once more. */
export function compactHistory(home: string, connection: Connection): { before: number; after: number } {
  const going = connection
    .sql<[], { id: number }>("SELECT id FROM run WHERE state IN ('queued', 'running', 'paused') LIMIT 1")
    .get();
  if (going !== undefined) {
    throw new InputError(
      'input.run_active',
      `Run ${going.id} goes on: it would wait while the history is written anew.`,
      'Let it end, or stop it, and compact then.',
    );
  }
  const size = (): number => sizeOf(connection.file) + sizeOf(`${connection.file}-wal`);
  const before = size();
  const { bavail, bsize } = statfsSync(home);
  if (bavail * bsize < 2 * before) {
    throw new InputError(
      'store.full',
      'The history is written anew when it is compacted: the disk has no room for that.',
      'Empty the trash, or free some space.',
    );
  }
  // Says that somebody writes.
  connection.transaction(() => undefined);
  connection.execute('VACUUM');
  connection.pragma('wal_checkpoint(TRUNCATE)');
  return { before, after: size() };
}

function backupsIn(folder: string): number {
  return namesIn(folder).filter((name) => name.endsWith('.db')).length;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Bytes of a file, or of all files of a folder; links count as nothing. */
function sizeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.isFile() ? (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
