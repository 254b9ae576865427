// Runs rebuilt from their folders: rows that a damaged history has lost, or that a power cut took back. A folder holds the
// run's row as it last was (run.json); of folders of earlier versions the trained model says what can be said.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './database.ts';
import { recordFile } from './files.ts';
import { createLogTable } from './notes.ts';
import { runFolders } from './open.ts';
import { decodeRecord, parseRow } from './records.ts';
import type { WholeRow } from './records.ts';
import { nextRevision } from './revisions.ts';

export interface RebuiltRuns {
  readonly runs: readonly number[];
  /** Folders that say nothing of their run. */
  readonly silent: readonly number[];
}

const largestRecord = 2 ** 26;

/**
 * Makes rows for folders without one: of all, or of those that came after the last run the history knows of. Curves and logs
 * of these runs are lost; their log says so.
 */
export function rebuildRuns(connection: Connection, home: string, which: 'all' | 'later'): RebuiltRuns {
  const last = lastNumber(connection);
  const wanted = runFolders(home)
    .filter((run) => (which === 'all' || run > last) && revisionOf(connection, run) < 0)
    .sort((first, second) => first - second);
  const found = wanted.map((run) => ({ run, row: rowOf(join(home, 'runs', String(run)), run, which === 'all') }));
  const rebuilt = found.filter(({ row }) => row !== null);
  if (rebuilt.length > 0) {
    connection.transaction(() => {
      for (const { row } of rebuilt) insertRow(connection, row!);
      for (const { run } of rebuilt) warn(connection, run, rebuiltLine);
    });
  }
  return { runs: rebuilt.map(({ run }) => run), silent: found.filter(({ row }) => row === null).map(({ run }) => run) };
}

const rebuiltLine = 'Rebuilt from the folder of the run: the history had lost it. Its curves and its log are gone.';

/** Writes a warning into the log of a run. Within a transaction. */
export function warn(connection: Connection, run: number, message: string): void {
  createLogTable(connection).append(run, [{ time: Date.now(), level: 'warning', message }]);
}

/** The highest number that a run ever had. */
export function lastNumber(connection: Connection): number {
  const row = connection.sql<[], { seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'run'").get();
  return row?.seq ?? 0;
}

/** Of the last change of a run's row; -1 if there is no row. */
export function revisionOf(connection: Connection, run: number): number {
  const row = connection.sql<[number], { revision: number }>('SELECT revision FROM run WHERE id = ?').get(run);
  return row?.revision ?? -1;
}

/**
 * Brings rows that came from a backup up to what the folders of their runs say, but for some; returns their numbers. What
 * was recorded of them after the backup is lost.
 */
export function updateRuns(connection: Connection, home: string, except: readonly number[]): readonly number[] {
  const others = runFolders(home).filter((run) => !except.includes(run));
  const kept = others.flatMap((run) => {
    const text = readSmall(join(home, 'runs', String(run), recordFile));
    const row = text === null ? null : decodeRecord(text);
    const before = revisionOf(connection, run);
    return row !== null && row.id === run && before >= 0 && before < row.revision ? [row] : [];
  });
  connection.transaction(() => {
    const newest = Math.max(0, ...kept.map(({ revision }) => revision));
    connection.sql('UPDATE counter SET revision = max(revision, ?)').run(newest);
    for (const row of kept) {
      insertRow(connection, ended(row));
      warn(connection, row.id, updatedLine);
    }
  });
  return kept.map(({ id }) => id);
}

const updatedLine = 'The history was damaged: what was recorded of this run after its last backup is lost.';

/** Inserts a row as it is, or replaces the one of its number. Within a transaction. */
export function insertRow(connection: Connection, row: WholeRow): void {
  const columns = Object.keys(row);
  const values = columns.map((column) => `@${column}`).join(', ');
  const changes = columns.map((column) => `"${column}" = excluded."${column}"`).join(', ');
  const insert = `INSERT INTO run (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${values}) ON CONFLICT (id) DO UPDATE SET ${changes}`;
  connection.sql<[object], unknown>(insert).run({ ...row, revision: nextRevision(connection) });
}

function rowOf(folder: string, run: number, guess: boolean): WholeRow | null {
  const text = readSmall(join(folder, recordFile));
  const kept = text === null ? null : decodeRecord(text);
  if (kept !== null && kept.id === run) return ended(kept);
  return guess ? rowOfModel(folder, run) : null;
}

/** A run that was going on is so no more, and does not go on by itself. */
export function ended(row: WholeRow): WholeRow {
  const goesOn = ['queued', 'running', 'paused'].includes(row.state);
  return {
    ...row,
    request: null,
    queue: null,
    ...(goesOn && { state: 'interrupted' as const, ended_at: row.ended_at ?? Date.now() }),
  };
}

/** What a trained model says of its run: nothing of the data it came from. */
function rowOfModel(folder: string, run: number): WholeRow | null {
  try {
    const file: unknown = JSON.parse(readSmall(join(folder, 'model.json')) ?? '');
    const { input: _, output, task: __, ...own } = file as Record<string, object>;
    const target = 'name' in output ? { target: output.name } : {};
    const config = { dataset: 'unknown', settings: target, ...own, device: 'auto', threads: 0 };
    const time = Math.round(statSync(join(folder, 'model.json')).mtimeMs);
    const name = `run ${run}, rebuilt`;
    return parseRow({
      id: run,
      name,
      state: 'interrupted',
      dataset: 'unknown',
      dataset_name: 'unknown',
      device: '',
      threads: 0,
      parameters: 0,
      created_at: time,
      started_at: time,
      ended_at: time,
      deleted_at: null,
      starred: 0,
      request: null,
      owner_pid: 0,
      owner_started_at: 0,
      revision: 0,
      search: name,
      tags: '[]',
      notes: '',
      config: JSON.stringify(config),
      progress: null,
      result: null,
      error: null,
      data: null,
      parent: null,
      relation: null,
      start: null,
      group: null,
      columns: null,
      origin: null,
    });
  } catch {
    return null;
  }
}

function readSmall(path: string): string | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Infinity;
  return size > largestRecord ? null : readFileSync(path, 'utf8');
}
