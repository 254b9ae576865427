// What can still be read of a damaged history, taken over into a whole one: runs that are not there yet or have changed since,
// with their curves and logs. Each row is read on its own, and where a page cannot be read the rows behind it are tried.

import Database from 'better-sqlite3';
import type { Connection } from './database.ts';
import { ended, insertRow, revisionOf, warn } from './folders.ts';
import { createMetricsTable } from './metrics.ts';
import { parseRow } from './records.ts';
import type { WholeRow } from './records.ts';
import { insertTrial } from './trials.ts';

export interface Salvaged {
  readonly runs: readonly number[];
  /** Some rows could not be read. */
  readonly incomplete: boolean;
  readonly settings: number;
}

const salvagedLine =
  'Taken from a damaged history: rows of its curves and its log may be missing, and figures may have changed.';

/** Takes over what a damaged file still gives. `file` is a copy that may be opened. */
export function salvage(file: string, target: Connection): Salvaged {
  let source: Database.Database;
  try {
    source = new Database(file, { fileMustExist: true });
  } catch {
    return { runs: [], incomplete: true, settings: 0 };
  }
  try {
    const reader = new Reader(source);
    return target.transaction(() => takeOver(reader, target));
  } finally {
    source.close();
  }
}

function takeOver(reader: Reader, target: Connection): Salvaged {
  const wanted = new Map<number, WholeRow>();
  for (const value of reader.rows('run', '*')) {
    const row = parseRow(value);
    if (row === null) reader.skipped = true;
    else if (revisionOf(target, row.id) < row.revision) wanted.set(row.id, row);
  }
  for (const { id, name } of reader.rows('series', 'id, name')) {
    target.sql('INSERT OR IGNORE INTO series (id, name) VALUES (?, ?)').run(id, name);
  }
  const known = new Set(
    target
      .sql<[], { id: number }>('SELECT id FROM series')
      .all()
      .map(({ id }) => id),
  );

  for (const [id, row] of wanted) {
    insertRow(target, ended(row));
    for (const table of ['sample', 'log', 'summary', 'trial']) target.sql(`DELETE FROM ${table} WHERE run = ?`).run(id);
  }
  const sample = target.sql('INSERT INTO sample (run, step, epoch, seconds, data) VALUES (?, ?, ?, ?, ?)');
  for (const { run, step, epoch, seconds, data } of reader.rows('sample', 'run, step, epoch, seconds, data')) {
    if (!wanted.has(Number(run))) continue;
    const isSample = data instanceof Uint8Array && seriesOf(data)?.every((id) => known.has(id)) === true;
    if (!isSample || !reader.takes(() => sample.run(run, step, epoch, seconds, data))) reader.skipped = true;
  }
  const log = target.sql('INSERT INTO log (run, time, level, message) VALUES (?, ?, ?, ?)');
  for (const { run, time, level, message } of reader.rows('log', 'run, time, level, message')) {
    if (wanted.has(Number(run))) reader.takes(() => log.run(run, time, level, message));
  }
  const trial = target.sql(insertTrial);
  for (const { run, number, data } of reader.rows('trial', 'run, number, data')) {
    if (wanted.has(Number(run))) reader.takes(() => trial.run(run, number, data));
  }
  const metrics = createMetricsTable(target);
  for (const id of wanted.keys()) {
    metrics.resum(id);
    warn(target, id, salvagedLine);
  }
  let settings = 0;
  const setting = target.sql('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)');
  for (const { key, value } of reader.settings()) {
    if (isJson(value) && reader.takes(() => setting.run(key, value))) settings++;
  }
  const lab = target.sql(
    'INSERT OR IGNORE INTO lab (id, machine, started_at, imported, result) VALUES (?, ?, ?, ?, ?)',
  );
  for (const { id, machine, started_at, imported, result } of reader.rows('lab', '*')) {
    if (isJson(result)) reader.takes(() => lab.run(id, machine, started_at, imported, result));
    else reader.skipped = true;
  }
  return { runs: [...wanted.keys()], incomplete: reader.skipped, settings };
}

/** The series of the values of a sample; null if it is none. */
function seriesOf(data: Uint8Array): readonly number[] | null {
  if (data.length % 10 !== 0) return null;
  return Array.from({ length: data.length / 10 }, (_, index) => data[index * 10] + 256 * data[index * 10 + 1]);
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(String(text));
    return true;
  } catch {
    return false;
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Tries at rows behind one that cannot be read: after them a table is given up. */
const mostTries = 40;

class Reader {
  readonly #source: Database.Database;
  /** Something could not be read. */
  skipped = false;

  constructor(source: Database.Database) {
    this.#source = source;
  }

  /** The rows of a table in the order of their numbers, without its indexes: those may be damaged, too. */
  *rows(table: string, columns: string): Generator<Row> {
    if (!this.#has(table)) return;
    let after = -1;
    let jump = 1;
    for (let tries = 0; tries < mostTries; tries++) {
      try {
        const query = `SELECT rowid AS place, ${columns} FROM ${table} NOT INDEXED WHERE rowid > ? ORDER BY rowid`;
        for (const row of this.#source.prepare<[number], Row>(query).iterate(after)) {
          const { place, ...values } = row;
          after = Number(place);
          jump = 1;
          yield values;
        }
        return;
      } catch {
        this.skipped = true;
        after += jump;
        jump *= 2;
      }
    }
  }

  /** Histories of earlier versions lack some. Where that cannot be read, it is tried. */
  #has(table: string): boolean {
    try {
      const query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
      return this.#source.prepare<[string]>(query).get(table) !== undefined;
    } catch {
      return true;
    }
  }

  settings(): readonly Row[] {
    try {
      return this.#source.prepare<[], Row>('SELECT key, value FROM setting').all();
    } catch {
      this.skipped = true;
      return [];
    }
  }

  /** Whether the new database takes a row; a damaged one may break its rules. */
  takes(work: () => unknown): boolean {
    try {
      work();
      return true;
    } catch {
      this.skipped = true;
      return false;
    }
  }
}
