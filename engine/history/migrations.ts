// The database's format as a list of steps; `PRAGMA user_version` says how many have been made. To change the format add
// a step at the end; never change one that has been released.

import { existsSync, renameSync, rmSync } from 'node:fs';
import { InputError } from '../protocol/errors.ts';
import type { Connection } from './database.ts';
import { completeConfig, upgradeConfig } from './configs.ts';
import { createMetricsTable } from './metrics.ts';
import { searchText } from './records.ts';
import {
  applicationId,
  schemaVersion1,
  schemaVersion2,
  schemaVersion4,
  schemaVersion6,
  schemaVersion7,
  schemaVersion8,
  schemaVersion10,
  schemaVersion11,
  schemaVersion12,
  schemaVersion13,
  schemaVersion14,
} from './schema.ts';

export interface Migration {
  readonly version: number;
  apply(connection: Connection): void;
}

export const migrations: readonly Migration[] = [
  { version: 1, apply: (connection) => connection.execute(schemaVersion1) },
  { version: 2, apply: (connection) => connection.execute(schemaVersion2) },
  { version: 3, apply: upgradeConfigs },
  { version: 4, apply: (connection) => connection.execute(schemaVersion4) },
  { version: 5, apply: (connection) => void connection.pragma(`application_id = ${applicationId}`) },
  { version: 6, apply: (connection) => connection.execute(schemaVersion6) },
  { version: 7, apply: (connection) => connection.execute(schemaVersion7) },
  { version: 8, apply: indexWords },
  { version: 9, apply: tellKeptScores },
  { version: 10, apply: (connection) => connection.execute(schemaVersion10) },
  { version: 11, apply: (connection) => connection.execute(schemaVersion11) },
  { version: 12, apply: (connection) => connection.execute(schemaVersion12) },
  { version: 13, apply: (connection) => connection.execute(schemaVersion13) },
  { version: 14, apply: (connection) => connection.execute(schemaVersion14) },
];

/** Runs say which learner they have. */
function upgradeConfigs(connection: Connection): void {
  const update = connection.sql('UPDATE run SET config = ? WHERE id = ?');
  const all = connection.sql<[], { id: number; config: string }>('SELECT id, config FROM run').all();
  for (const { id, config } of all) update.run(upgradeConfig(config), id);
}

/** The best score of a run is that of the weights it keeps, not the highest that an epoch ever had. */
function tellKeptScores(connection: Connection): void {
  const metrics = createMetricsTable(connection);
  const open = connection
    .sql<[], { id: number }>('SELECT id FROM run WHERE result IS NULL AND id IN (SELECT run FROM sample)')
    .all();
  for (const { id } of open) {
    try {
      connection.transaction(() => metrics.resum(id));
    } catch {
      // Curves that cannot be read stay as they were summed up.
    }
  }
  const ended = connection.sql<[], { id: number }>('SELECT id FROM run WHERE result IS NOT NULL').all();
  for (const { id } of ended) metrics.keepScores(id);
}

/** Runs are found by their settings, too. */
function indexWords(connection: Connection): void {
  connection.execute(schemaVersion8);
  const update = connection.sql('UPDATE run SET search = ? WHERE id = ?');
  const query = 'SELECT id, name, dataset_name AS datasetName, tags, notes, config FROM run';
  type Row = { id: number; name: string; datasetName: string; tags: string; notes: string; config: string };
  connection.execute('INSERT INTO run_text (rowid, search) SELECT id, search FROM run');
  for (const { id, config, tags, ...row } of connection.sql<[], Row>(query).all()) {
    try {
      const words = { ...row, tags: JSON.parse(tags) as string[], config: completeConfig(JSON.parse(config)) };
      update.run(searchText({ ...words, group: null, columns: [] }), id);
    } catch {
      // A run of a learner that is not there any more is found by what it was found by.
    }
  }
}

/** Where the copy lies that was made before a database of `version` was changed. */
export function backupFile(databaseFile: string, version: number): string {
  return databaseFile.replace(/(\.db)?$/, `.v${version}.backup.db`);
}

/**
 * Brings a database to the newest format: a backup, then all missing steps in one transaction. Two processes that start
 * at the same time take turns. Throws `store.newer` for a database of a later program, `store.foreign` for another program's.
 */
export function migrate(connection: Connection, steps: readonly Migration[] = migrations): void {
  const newest = steps.at(-1)?.version ?? 0;
  const found = versionOf(connection);
  if (found > newest) throw newerError(connection.file, found, newest);
  if (found === newest) return;
  if (found > 0) backup(connection, found);

  // A table that is made anew must not take with it what refers to it; this cannot be said within a transaction.
  connection.pragma('foreign_keys = OFF');
  try {
    connection.transaction(() => {
      const current = versionOf(connection);
      if (current === 0) refuseForeignTables(connection);
      for (const step of steps) {
        if (step.version <= current) continue;
        step.apply(connection);
        connection.pragma(`user_version = ${step.version}`);
      }
    });
  } finally {
    connection.pragma('foreign_keys = ON');
  }
}

function versionOf(connection: Connection): number {
  return Number(connection.pragma('user_version'));
}

/** A consistent copy, complete or not there at all. */
function backup(connection: Connection, version: number): void {
  const target = backupFile(connection.file, version);
  if (existsSync(target)) return;
  const temporary = `${target}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  connection.sql('VACUUM INTO ?').run(temporary);
  renameSync(temporary, target);
}

function refuseForeignTables(connection: Connection): void {
  const tables = connection.sql<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema').get();
  if (tables === undefined || tables.count === 0) return;
  throw new InputError(
    'store.foreign',
    `${connection.file} is a database, but no Trainyard history.`,
    'Move it away, or set TRAINYARD_HOME to another folder.',
  );
}

export function newerError(file: string, found: number, newest: number): InputError {
  return new InputError(
    'store.newer',
    `The history ${file} was written by a newer Trainyard (format ${found}; this one knows formats up to ${newest}).`,
    'Update Trainyard, or set TRAINYARD_HOME to another folder.',
  );
}
