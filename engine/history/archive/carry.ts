// Rows of runs from one history to another: into the small history of a file that is given away, and out of it into a home, where a
// run gets a new number. Series are numbered by each history for itself.

import type { RunOrigin } from '../../protocol/keeping.ts';
import type { Connection } from '../database.ts';
import { ended } from '../folders.ts';
import { parseRow } from '../records.ts';
import type { WholeRow } from '../records.ts';
import { nextRevision } from '../revisions.ts';
import { renumberValues } from '../samples.ts';
import { createSeriesNumbers } from '../series.ts';
import { insertTrial, readTrials, type TrialRow } from '../trials.ts';

/** What a run is known by wherever it goes: where it was made, it had this number, and was made at this moment. */
export interface RunIdentity {
  readonly run: number;
  readonly createdAt: number;
  readonly dataset: string;
}

export function identityOf(row: WholeRow): RunIdentity {
  const origin = originOf(row);
  return { run: origin?.run ?? row.id, createdAt: row.created_at, dataset: row.dataset };
}

export const originOf = ({ origin }: WholeRow): RunOrigin | null =>
  origin === null ? null : (JSON.parse(origin) as RunOrigin);

/** Rows of a history that can be read; null for those that are none. */
export function rowsOf(connection: Connection): readonly (WholeRow | null)[] {
  return connection.sql<[], unknown>('SELECT * FROM run ORDER BY id').all().map(parseRow);
}

/** The number of a run here; null: it is not here. */
export function findRun(connection: Connection, { run, createdAt, dataset }: RunIdentity): number | null {
  const query = `
    SELECT id FROM run WHERE created_at = @createdAt AND dataset = @dataset
    AND coalesce(origin ->> '$.run', id) = @run`;
  return connection.sql<[object], { id: number }>(query).get({ run, createdAt, dataset })?.id ?? null;
}

interface SampleRow {
  readonly step: number;
  readonly epoch: number;
  readonly seconds: number;
  readonly data: Uint8Array;
}

interface SummaryRow {
  readonly name: string;
  readonly last: number | null;
  readonly best: number | null;
  readonly best_epoch: number | null;
}

/**
 * Writes a run with its curves and log into another history, changed as said; with `id` null it gets the next number. Returns its number.
 * Within a transaction of the target.
 */
export function carryRun(
  from: Connection,
  to: Connection,
  row: WholeRow,
  changes: { readonly id: number | null; readonly origin: string | null },
): number {
  const { id: before, ...rest } = ended(row);
  const values = { ...rest, ...changes, revision: nextRevision(to), owner_pid: 0, owner_started_at: 0 };
  const columns = Object.keys(values);
  const insert = `INSERT INTO run (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')}) RETURNING id`;
  const { id } = to.sql<[object], { id: number }>(insert).get(values)!;

  const names = createSeriesNumbers(from);
  const numbers = createSeriesNumbers(to);
  const known = new Map<number, number>();
  const numberOf = (series: number): number => {
    if (!known.has(series)) known.set(series, numbers.numberOf(names.nameOf(series)));
    return known.get(series)!;
  };
  const sample = to.sql('INSERT INTO sample (run, step, epoch, seconds, data) VALUES (?, ?, ?, ?, ?)');
  const samples = 'SELECT step, epoch, seconds, data FROM sample WHERE run = ? ORDER BY rowid';
  for (const { step, epoch, seconds, data } of from.sql<[number], SampleRow>(samples).iterate(before)) {
    sample.run(id, step, epoch, seconds, renumberValues(data, numberOf));
  }
  const summary = to.sql('INSERT INTO summary (run, series, last, best, best_epoch) VALUES (?, ?, ?, ?, ?)');
  const summaries = `
    SELECT series.name, last, best, best_epoch FROM summary JOIN series ON series.id = summary.series WHERE run = ?`;
  for (const { name, last, best, best_epoch } of from.sql<[number], SummaryRow>(summaries).iterate(before)) {
    summary.run(id, numbers.numberOf(name), last, best, best_epoch);
  }
  const trial = to.sql(insertTrial);
  for (const { number, data } of from.sql<[number, number], TrialRow>(readTrials).iterate(before, 0)) {
    trial.run(id, number, data);
  }
  to.sql<[number, string], unknown>(
    `INSERT INTO log (run, time, level, message)
     SELECT ?, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
  ).run(id, linesOf(from, before));
  return id;
}

function linesOf(from: Connection, run: number): string {
  const query = 'SELECT json_group_array(json_array(time, level, message) ORDER BY id) AS lines FROM log WHERE run = ?';
  return from.sql<[number], { lines: string }>(query).get(run)!.lines;
}
