// What people are told where the history, or the home it is in, cannot be used: by a newer program, by another one, damaged, not to be
// written, full. Nothing of it is changed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { openDatabase } from '../../engine/history/database.ts';
import { explainFailure } from '../../engine/history/failures.ts';
import { migrate, migrations } from '../../engine/history/migrations.ts';
import { DatasetStore } from '../../engine/data/store.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import { newRun, temporaryHome } from './fixtures/history.ts';

const newest = migrations.at(-1)!.version;
const failsWith = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TrainyardError, String(error));
  assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
  assert.notEqual(error.hint, '');
  return true;
};

test('a database of a newer program is refused and left as it is', async (context) => {
  const home = temporaryHome(context);
  await createStore(home).close();
  const connection = openDatabase(join(home, 'history.db'));
  connection.pragma(`user_version = ${newest + 1}`);
  connection.close();
  const bytes = readFileSync(join(home, 'history.db'));
  assert.throws(() => createStore(home), failsWith('store.newer', new RegExp(`format ${newest + 1}.*up to ${newest}`)));
  assert.throws(() => createStore(home), InputError);
  assert.deepEqual(readFileSync(join(home, 'history.db')), bytes);
});

test('that of a newer program with another journal, or with a log, is refused with no byte changed', async (context) => {
  for (const journal of ['delete', 'wal']) {
    const home = temporaryHome(context);
    await createStore(home).close();
    const file = join(home, 'history.db');
    const newer = new Database(file);
    newer.pragma(`journal_mode = ${journal}`);
    newer.pragma(`user_version = ${newest + 1}`);
    newer.exec('CREATE TABLE later (a)');
    // As a killed program leaves it.
    const left = temporaryHome(context);
    cpSync(home, left, { recursive: true });
    newer.close();
    const contents = (): unknown =>
      readdirSync(left, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'hex')]);
    const before = contents();
    assert.equal(existsSync(join(left, 'history.db-wal')), journal === 'wal');
    assert.throws(() => createStore(left), failsWith('store.newer', new RegExp(`format ${newest + 1}`)));
    assert.deepEqual(contents(), before);
  }
});

test('a file that is no database, a damaged one and a foreign one are refused and left as they are', async (context) => {
  const text = temporaryHome(context);
  writeFileSync(join(text, 'history.db'), 'These are my notes. '.repeat(500));
  assert.throws(() => createStore(text), failsWith('store.corrupt', /damaged or is no Trainyard history/));
  assert.match(readFileSync(join(text, 'history.db'), 'utf8'), /^These are my notes/);

  const damaged = temporaryHome(context);
  const store = createStore(damaged);
  for (let index = 0; index < 50; index++) await store.createRun(newRun());
  await store.close();
  const bytes = readFileSync(join(damaged, 'history.db'));
  writeFileSync(join(damaged, 'history.db'), bytes.fill(0xaa, 4096));
  const reading = async (): Promise<unknown> => createStore(damaged).runs({});
  await assert.rejects(reading(), failsWith('store.corrupt', /damaged/));

  const foreign = temporaryHome(context);
  const connection = openDatabase(join(foreign, 'history.db'));
  connection.execute('CREATE TABLE recipes (name)');
  connection.close();
  assert.throws(() => createStore(foreign), failsWith('store.foreign', /no Trainyard history/));
});

test('a home that is a file, or lies below one, is refused', (context) => {
  const home = join(temporaryHome(context), 'file');
  writeFileSync(home, '');
  assert.throws(() => createStore(home), failsWith('store.not_a_folder', /is not a folder/));
  assert.throws(() => createStore(join(home, 'below')), failsWith('store.not_a_folder', /is not a folder/));
});

test(
  'a home that is made is its account’s alone; one that was there keeps its mode',
  { skip: process.platform === 'win32' && 'no modes there' },
  async (context) => {
    const parent = temporaryHome(context);
    const own = join(parent, 'made', 'home');
    const given = join(parent, 'given');
    mkdirSync(given);
    chmodSync(given, 0o755);
    const modes: number[] = [];
    for (const home of [own, given]) {
      await createStore(home).close();
      modes.push(statSync(home).mode & 0o777);
    }
    assert.deepEqual(modes, [0o700, 0o755]);
    await new DatasetStore(join(parent, 'data')).prepareHome();
    assert.equal(statSync(join(parent, 'data')).mode & 0o777, 0o700);
  },
);

const storeModule = fileURLToPath(new URL('../../engine/history/store.ts', import.meta.url));

/** Whether any account can read a file, for all that the modes of its folders say; who is not root asks for itself. */
function isOpenToAll(file: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const above = dirname(file);
  return (statSync(file).mode & 0o005) > 0 && (above === file || isOpenToAll(above));
}

/** Opens a store in a process without the rights of root; its stderr is the error's code. */
function openUnprivileged(home: string): Promise<string> {
  const script = `import { createStore } from ${JSON.stringify(storeModule)};
    try { createStore(process.argv[1]); } catch (error) { console.error(error.code); }`;
  const root = process.getuid?.() === 0;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script, home], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(root && { uid: 65534, gid: 65534 }),
  });
  return new Promise((resolve) => {
    let text = '';
    child.stderr.on('data', (part) => (text += part));
    child.on('close', () => resolve(text.trim()));
  });
}

test(
  'a home that cannot be written is refused',
  { skip: process.platform === 'win32' && 'no modes there' },
  async (context) => {
    const parent = temporaryHome(context);
    chmodSync(parent, 0o755);
    const existing = join(parent, 'existing');
    await createStore(existing).close();
    mkdirSync(join(parent, 'empty'));
    for (const name of ['existing', 'empty']) chmodSync(join(parent, name), 0o555);
    chmodSync(join(existing, 'history.db'), 0o444);
    if (![process.execPath, storeModule].every(isOpenToAll)) {
      context.skip('run as root from a folder that only root can read: nothing unprivileged can be started');
      return;
    }
    for (const name of ['empty', 'empty/new']) {
      assert.equal(await openUnprivileged(join(parent, name)), 'store.readonly', name);
    }
    const copies = (): readonly string[] =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('trainyard-looking-'));
    const before = new Set(copies());
    assert.equal(await openUnprivileged(existing), '', 'a history that is there may be looked at');
    const left = copies().filter(
      (name) => !before.has(name) && statSync(join(tmpdir(), name)).uid !== process.getuid?.(),
    );
    assert.deepEqual(left, [], 'its copy goes with the process');
  },
);

test('where the folder may be written, the file that may not is named', (context) => {
  const home = temporaryHome(context);
  const told = (code: string, more: object = {}): string =>
    explainFailure(Object.assign(new Error('refused'), { code, ...more }), home).message;
  assert.equal(told('SQLITE_CANTOPEN'), `${join(home, 'history.db')} may not be read and written by this account.`);
  const path = join(home, 'runs', '1', 'run.json');
  assert.equal(told('EACCES', { path }), `${path} may not be read and written by this account.`);
});

test('a full disk is named, and what was being written is undone', (context) => {
  const home = temporaryHome(context);
  const connection = openDatabase(join(home, 'history.db'));
  migrate(connection);
  connection.pragma(`max_page_count = ${connection.pragma('page_count')}`);
  const fill = (): void =>
    connection.transaction(() => {
      const insert = connection.sql('INSERT INTO setting (key, value) VALUES (?, ?)');
      for (let index = 0; index < 100; index++) insert.run(String(index), 'x'.repeat(1000));
    });
  assert.throws(
    () => {
      try {
        fill();
      } catch (error) {
        throw explainFailure(error, home);
      }
    },
    failsWith('store.full', /is full/),
  );
  assert.deepEqual(connection.sql('SELECT count(*) AS count FROM setting').get(), { count: 0 });
  connection.close();
});

test('every other failure still says where', () => {
  const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  assert.equal(explainFailure(busy, '/home').code, 'store.busy');
  const broken = Object.assign(new Error('i/o error'), { code: 'EIO' });
  assert.match(explainFailure(broken, '/home').message, /\/home failed: i\/o error/);
  assert.equal(explainFailure(Object.assign(new Error('x'), { code: 'ENOSPC' }), '/home').code, 'store.full');
  assert.equal(explainFailure('odd', '/home').code, 'store.failed');
  const own = new InputError('input.x', 'x');
  assert.equal(explainFailure(own, '/home'), own);
});
