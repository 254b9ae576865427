// The two small tables beside the runs: log lines of a run, and settings of the app.

import type { LogLine } from '../protocol/runs.ts';
import type { Connection } from './database.ts';

const readLines = 'SELECT time, level, message FROM log WHERE run = ? ORDER BY id LIMIT -1 OFFSET ?';

export interface LogTable {
  /** Within a transaction. */
  append(run: number, lines: readonly LogLine[]): void;
  /** Whether the first of these lines is there already. */
  has(run: number, lines: readonly LogLine[]): boolean;
  /** Lines after the first `after`. */
  read(run: number, after: number): readonly LogLine[];
}

export function createLogTable(connection: Connection): LogTable {
  return {
    append(run, lines) {
      const insert = connection.sql('INSERT INTO log (run, time, level, message) VALUES (?, ?, ?, ?)');
      for (const { time, level, message } of lines) insert.run(run, Math.round(time), level, message);
    },
    has(run, [first]) {
      if (first === undefined) return false;
      const query = connection.sql('SELECT 1 FROM log WHERE run = ? AND time = ? AND level = ? AND message = ?');
      return query.get(run, Math.round(first.time), first.level, first.message) !== undefined;
    },
    read: (run, after) => connection.sql<[number, number], LogLine>(readLines).all(run, after),
  };
}

export interface SettingsTable {
  get(key: string): unknown;
  /** null and undefined forget the setting. */
  set(key: string, value: unknown): void;
}

export function createSettingsTable(connection: Connection): SettingsTable {
  return {
    get(key) {
      const row = connection.sql<[string], { value: string }>('SELECT value FROM setting WHERE key = ?').get(key);
      return row === undefined ? null : JSON.parse(row.value);
    },
    set(key, value) {
      if (value === null || value === undefined) connection.sql('DELETE FROM setting WHERE key = ?').run(key);
      else connection.sql('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)').run(key, JSON.stringify(value));
    },
  };
}
