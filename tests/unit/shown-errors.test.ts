// What of an error reaches the window: no folder, no SQL, no stack, whoever threw it; and every service says so over its port.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import Database from 'better-sqlite3';
import { createDataService } from '../../engine/data/service.ts';
import { createStore } from '../../engine/history/store.ts';
import { fromWire, InputError, toWire, TrainyardError } from '../../engine/protocol/errors.ts';
import { createPortPair } from '../../engine/protocol/port.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import { forPage, shownText } from '../../engine/protocol/shown-errors.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard secret-'));
test.after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Nothing of the machine and nothing of the program's inside. */
function assertClean({ message, hint }: { readonly message: string; readonly hint: string }, about: string): void {
  const text = `${message} ${hint}`;
  assert.doesNotMatch(text, /(^|[\s"'`(:=“])([A-Za-z]:)?[\\/]\w/, `${about}: a path in ${text}`);
  assert.ok(!text.includes('secret-'), `${about}: a folder in ${text}`);
  assert.doesNotMatch(text, /\b(SELECT|INSERT INTO|UPDATE \w+ SET|PRAGMA|CREATE TABLE)\b/, `${about}: SQL in ${text}`);
  assert.doesNotMatch(text, /\n\s+at |\.ts:\d|node:internal/, `${about}: a stack in ${text}`);
  assert.ok(message.length > 0, `${about}: says nothing`);
}

/** What arrives at the page of an error that this work throws. */
async function arrives(work: () => unknown): Promise<TrainyardError> {
  const [near, far] = createPortPair();
  serve(far, { work: async () => work() }, { errors: forPage });
  const error: unknown = await connect<{ work(): Promise<unknown> }>(near)
    .work()
    .then(() => null)
    .catch((error: unknown) => error);
  assert.ok(error instanceof TrainyardError, 'nothing was thrown');
  return error;
}

const missing = path.join(folder, 'My Tables', 'house prices.csv');

test('an error of another bundle in the same process stays what it is', async () => {
  // As the main process and the command line in it have the class twice.
  const other = (await import(`${import.meta.resolve('../../engine/protocol/errors.ts')}?again`)) as {
    readonly InputError: typeof InputError;
  };
  assert.notEqual(other.InputError, InputError);
  const newer = new other.InputError('store.newer', 'The history /home/a/history.db is newer.', 'Update Trainyard.');
  const wire = toWire(newer);
  assert.deepEqual(wire, { name: 'InputError', code: newer.code, message: newer.message, hint: newer.hint });
  assert.ok(fromWire(wire) instanceof InputError);
});

test('the file system’s errors name the file and say what to do', async () => {
  const cases: readonly (readonly [work: () => unknown, message: RegExp])[] = [
    [() => fs.readFileSync(missing), /“house prices.csv” is not there any more/],
    [() => fs.promises.readdir(missing), /not there/],
    [() => fs.writeFileSync('/dev/full', 'x'), /The disk is full/],
    [
      () =>
        Promise.reject(
          Object.assign(new Error(`EACCES: permission denied, open '${missing}'`), { code: 'EACCES', path: missing }),
        ),
      /“house prices.csv” may not be read or written/,
    ],
    [
      () => Promise.reject(Object.assign(new Error(`EIO: i/o error, read '${missing}'`), { code: 'EIO' })),
      /could not be read/,
    ],
  ];
  for (const [work, message] of cases) {
    const error = await arrives(work);
    assertClean(error, String(work));
    assert.match(error.message, message);
    assert.notEqual(error.hint, '');
  }
});

test('SQLite’s errors: a damaged file, a missing folder, a wrong statement', async () => {
  const damaged = path.join(folder, 'damaged.db');
  fs.writeFileSync(damaged, 'no database at all, but long enough to be read as one'.repeat(40));
  const cases: readonly (() => unknown)[] = [
    () => new Database(damaged).prepare('SELECT * FROM runs').all(),
    () => new Database(missing),
    () => new Database(':memory:').exec('SELECT secret FROM nowhere'),
    () => new Database(':memory:').exec('INSERT INTO runs VALUES (1'),
    () => Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })),
  ];
  for (const work of cases) assertClean(await arrives(work), String(work));
});

test('DuckDB’s errors: wrong statements, missing files, bad rows', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  for (const statement of [
    'SELECT nothing FROM nowhere',
    `SELECT * FROM read_csv('${missing}')`,
    `COPY (SELECT 1) TO '${missing}'`,
    "SELECT CAST('x' AS INTEGER)",
    'SELEKT 1',
    `ATTACH '${missing}'`,
  ]) {
    assertClean(await arrives(() => connection.run(statement)), statement);
  }
  connection.closeSync();
});

test('the store and the data host, over their services', async () => {
  const home = path.join(folder, 'home');
  fs.mkdirSync(home);
  fs.writeFileSync(path.join(home, 'history.db'), 'no database at all, but long enough to be read as one'.repeat(40));
  assertClean(await arrives(() => createStore(home)), 'a damaged history');
  assertClean(await arrives(() => createStore(missing + '\0')), 'an impossible home');
  const file = path.join(folder, 'a file');
  fs.writeFileSync(file, 'x');
  assertClean(await arrives(() => createStore(file)), 'a home that is a file');

  const data = createDataService({ home: path.join(folder, 'data home') });
  const binary = path.join(folder, 'binary.csv');
  fs.writeFileSync(binary, Buffer.from([0, 1, 2, 3, 0, 0, 255, 254]));
  for (const wrong of [missing, folder, binary, path.join(folder, 'none.parquet')]) {
    assertClean(await arrives(() => data.import({ job: 'x', path: wrong })), wrong);
  }
  for (const dataset of ['nothing', '../../etc', '']) {
    assertClean(await arrives(() => data.rows({ dataset, offset: 0, limit: 1 })), dataset);
  }
});

test('a bug’s error loses its stack; words, shares and units stay', async () => {
  const bug = new TypeError('x is not a function');
  bug.message = bug.stack ?? '';
  assertClean(await arrives(() => Promise.reject(bug)), 'a stack as a message');
  for (const text of [
    'line 3: 2 of 3/4 rows, 120 rows/s, 01/02/2024 and and/or.',
    'Select one from the list, or update the set.',
    'There is no column "a/b".',
  ]) {
    assert.equal(shownText(text), text);
  }
  for (const [text, shown] of [
    ['The disk that holds /home/me/My Data/Trainyard is full.', 'The disk that holds Trainyard is full.'],
    ['cannot open C:\\Users\\me\\x.csv: denied', 'cannot open x.csv: denied'],
    ["open '/a b/c d/e f.csv'", "open 'e f.csv'"],
    ['at file:///opt/app/main.cjs:3', 'at main.cjs:3'],
  ]) {
    assert.equal(shownText(text), shown);
  }
  const own = toWire(new InputError('input.x', `There is no file at ${missing}.`, 'Look in /tmp/x.'));
  assert.ok(own.message.includes(missing), 'the command line is told the whole path');
  assertClean(forPage(own), 'an error written for people');
});
