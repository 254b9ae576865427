// Is this database whole, and is it ours? Asked on opening wherever the seal (seal.ts) does not answer: after a process was
// killed, and for histories of earlier versions. Small files are checked before the first call, large ones beside the calls.

import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openDatabase } from './database.ts';
import type { Connection } from './database.ts';
import { damaged } from './failures.ts';
import { migrations } from './migrations.ts';

/** Files up to this are checked before the first call: some 50 ms. */
export const checkedAtOnce = 2 ** 24;

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** What stands behind the index of words is made by SQLite itself, each version in its own way. */
const readSchema = `
  SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'
  AND name NOT IN ('run_text_data', 'run_text_idx', 'run_text_content', 'run_text_docsize', 'run_text_config')
  ORDER BY type, name`;

/** Throws `store.corrupt` when tables or indexes are not those of the newest version. */
export function checkSchema(connection: Connection): void {
  const expected = openDatabase(':memory:');
  try {
    for (const step of migrations) step.apply(expected);
    const wanted = JSON.stringify(expected.sql<[], SchemaRow>(readSchema).all());
    if (JSON.stringify(connection.sql<[], SchemaRow>(readSchema).all()) === wanted) return;
  } finally {
    expected.close();
  }
  throw damaged(connection.file, 'its tables are not those of a history');
}

/** Throws `store.corrupt` with what SQLite finds first. */
export function checkAll(connection: Connection): void {
  refuse(connection, connection.pragma('quick_check(1)'));
}

/** Small files at once, large ones beside other work. `goOn` is asked in between, and ends it. */
export async function checkBeside(connection: Connection, goOn: () => boolean = () => true): Promise<void> {
  if (statSync(connection.file).size <= checkedAtOnce) return checkAll(connection);
  for (const slice of checkSlices(connection)) {
    void slice;
    if (!goOn()) return;
    await setTimeout(1);
    if (!goOn()) return;
  }
}

function refuse(connection: Connection, found: number | string): void {
  if (found !== 'ok') throw damaged(connection.file, String(found).split('\n')[0]);
}

/** Rows of metrics looked at in one go. */
const sliceRows = 2_000;

/** The same for large files, in slices of some milliseconds; each step is one. */
function* checkSlices(connection: Connection): Generator<void> {
  for (const table of ['run', 'setting', 'series', 'counter', 'log', 'summary']) {
    refuse(connection, connection.pragma(`quick_check(${table})`));
    yield;
  }
  // The metrics are nearly all of the file: every page of them is read once, and every row is looked at.
  const slice = connection.sql<[number, number], { last: number | null; odd: number }>(
    `SELECT max(rowid) AS last, total(length(data) % 10 != 0 OR step < 0) AS odd
     FROM (SELECT rowid, data, step FROM sample WHERE rowid > ? ORDER BY rowid LIMIT ?)`,
  );
  for (let after = -1; ;) {
    const { last, odd } = slice.get(after, sliceRows)!;
    if (odd > 0) throw damaged(connection.file, `${odd} rows of metrics cannot be read`);
    if (last === null) return;
    after = last;
    yield;
  }
}
