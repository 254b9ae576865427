// The database's format: made, brought up to date with a backup, refused where it is not ours to change; and what people
// are told when the home cannot be used.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { isNetwork } from '../../engine/learners/network/declaration.ts';
import { openDatabase } from '../../engine/history/database.ts';
import type { Connection } from '../../engine/history/database.ts';
import { explainFailure } from '../../engine/history/failures.ts';
import { backupFile, migrate, migrations } from '../../engine/history/migrations.ts';
import type { Migration } from '../../engine/history/migrations.ts';
import { parseRow } from '../../engine/history/records.ts';
import { completeConfig } from '../../engine/history/configs.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { DatasetStore } from '../../engine/data/store.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

const newest = migrations.at(-1)!.version;
const failsWith = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TrainyardError, String(error));
  assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
  assert.notEqual(error.hint, '');
  return true;
};

/** The tables, indexes and columns of a database, for comparing formats. */
function describeFormat(connection: Connection): unknown {
  return connection.sql("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all();
}

test('versions are 1, 2, 3, …', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, index) => index + 1),
  );
});

test('version 2: what was called elapsed was training; the time from start to end takes its name', (context) => {
  const connection = openDatabase(join(temporaryHome(context), 'history.db'));
  migrate(connection, migrations.slice(0, 1));
  const insert = connection.sql<[number, number | null, string | null], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, started_at, ended_at, owner_pid, owner_started_at,
       revision, search, config, progress) VALUES ('r', 'completed', 'd', 'd', 0, ?, ?, 1, 1, 0, '', '{}', ?)`,
  );
  insert.run(1000, 6800, '{"step":9,"secondsElapsed":3}');
  insert.run(1000, null, '{"step":4,"secondsElapsed":2.5}');
  insert.run(1000, 2000, null);
  migrate(connection);
  const rows = connection.sql<[], { progress: string; data: null }>('SELECT progress, data FROM run ORDER BY id').all();
  assert.deepEqual(
    rows.map(({ progress, data }) => [JSON.parse(progress), data]),
    [
      [{ step: 9, secondsElapsed: 5.8, secondsTraining: 3 }, null],
      [{ step: 4, secondsElapsed: 2.5, secondsTraining: 2.5 }, null],
      [null, null],
    ],
  );
  connection.close();
});

/** The settings of a run as versions 1 and 2 wrote them. */
const oldConfig =
  '{"dataset":"d","settings":{"target":"t"},"model":{"version":1,"preset":"small","layers":[{"type":"output"}]},' +
  '"training":{"epochs":3,"batch":8,"seed":7,"optimizer":{"name":"adam","learningRate":1e-05}},"device":"cpu","threads":2}';
const upgradedConfig = {
  learner: 'network',
  dataset: 'd',
  settings: { target: 't' },
  model: { version: 1, preset: 'small', layers: [{ type: 'output' }] },
  training: { epochs: 3, batch: 8, optimizer: { name: 'adam', learningRate: 1e-5 } },
  device: 'cpu',
  threads: 2,
  seed: 7,
};

test('version 3: runs of old histories are networks, their seed is that of the run; they are found and changed', async (context) => {
  const home = temporaryHome(context);
  const old = openDatabase(join(home, 'history.db'));
  migrate(old, migrations.slice(0, 2));
  const insert = old.sql<[string], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
     VALUES ('r', 'stopped', 'd', 'd.csv', 0, 1, 1, 0, 'r d.csv small', ?)`,
  );
  insert.run(oldConfig);
  old.close();
  const store = createStore(home);
  // Settings that were not there yet are as they were without saying so.
  const { config } = await store.run({ run: 1 });
  assert.ok(isNetwork(config));
  assert.deepEqual([config.seed, config.training.epochs, config.training.clipNorm], [7, 3, 0]);
  assert.deepEqual(config, completeConfig(upgradedConfig as unknown as RunConfig));
  assert.deepEqual((await store.updateRun({ run: 1, patch: { name: 'other' } })).config, config);
  assert.equal((await store.runs({ search: 'small' })).total, 1);
  await store.close();
});

test('a row that an old version left in the folder of its run is read in the same way', () => {
  const row = { id: 1, name: 'r', state: 'stopped', dataset: 'd', dataset_name: 'd.csv', device: '', threads: 0 };
  const times = { created_at: 0, started_at: null, ended_at: null, deleted_at: null };
  const owner = { owner_pid: 1, owner_started_at: 1, request: null, revision: 0, search: '' };
  const rest = { parameters: 0, starred: 0, tags: '[]', notes: '', progress: null, result: null, error: null };
  const parsed = parseRow({ ...row, ...times, ...owner, ...rest, config: oldConfig });
  assert.deepEqual(JSON.parse(parsed?.config ?? ''), upgradedConfig);
});

test('version 4: a run may diverge; what refers to runs stays, and numbers are never used again', (context) => {
  const connection = openDatabase(join(temporaryHome(context), 'history.db'));
  migrate(connection, migrations.slice(0, 3));
  const insert = connection.sql<[string], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config, notes)
       VALUES ('r', ?, 'd', 'd', 0, 1, 1, 0, '', '{}', 'kept')`,
  );
  for (const state of ['completed', 'failed', 'failed']) insert.run(state);
  connection.execute(`
    DELETE FROM run WHERE id = 3;
    INSERT INTO series (id, name) VALUES (1, 'loss');
    INSERT INTO sample (run, step, epoch, seconds, data) VALUES (1, 1, 1, 1, x'00');
    INSERT INTO summary (run, series, last) VALUES (2, 1, 0.5);
    INSERT INTO log (run, time, level, message) VALUES (2, 0, 'info', 'text');
  `);
  assert.throws(() => insert.run('diverged'), /CHECK/);
  migrate(connection);
  const anew = connection.sql<[string], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
       VALUES ('r', ?, 'd', 'd', 0, 1, 1, 0, '', '{}')`,
  );
  anew.run('diverged');
  assert.deepEqual(connection.sql('SELECT id, state, notes FROM run ORDER BY id').all(), [
    { id: 1, state: 'completed', notes: 'kept' },
    { id: 2, state: 'failed', notes: 'kept' },
    { id: 4, state: 'diverged', notes: '' },
  ]);
  const count = (table: string): unknown => connection.sql(`SELECT count(*) AS count FROM ${table}`).get();
  for (const table of ['sample', 'summary', 'log']) assert.deepEqual(count(table), { count: 1 }, table);
  connection.execute('DELETE FROM run');
  for (const table of ['sample', 'summary', 'log'])
    assert.deepEqual(count(table), { count: 0 }, `${table} goes with its run`);
  connection.close();
});

test('version 7: runs of old histories have no parent; a relation without one is refused', async (context) => {
  const home = temporaryHome(context);
  const connection = openDatabase(join(home, 'history.db'));
  migrate(connection, migrations.slice(0, 6));
  const insert = connection.sql<[string], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
     VALUES ('r', 'stopped', 'd', 'd.csv', 0, 1, 1, 0, 'r d.csv small', ?)`,
  );
  insert.run(JSON.stringify(upgradedConfig));
  migrate(connection);
  assert.throws(() => connection.execute("UPDATE run SET relation = 'fold'"), /CHECK/);
  assert.throws(() => connection.execute("UPDATE run SET relation = 'cousin', parent = 1"), /CHECK/);
  connection.execute("UPDATE run SET relation = 'fold', parent = 7");
  connection.execute('UPDATE run SET relation = NULL, parent = NULL');
  connection.close();
  const store = createStore(home);
  const { parent, relation, start } = await store.run({ run: 1 });
  assert.deepEqual([parent, relation, start], [null, null, null]);
  await store.close();
});

test('version 9: the best scores of a run are those of the weights it kept; what cannot be read stays', (context) => {
  const connection = openDatabase(join(temporaryHome(context), 'history.db'));
  migrate(connection, migrations.slice(0, 8));
  const insert = connection.sql<[string | null], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config, result)
     VALUES ('r', 'stopped', 'd', 'd.csv', 0, 1, 1, 0, '', '{}', ?)`,
  );
  const metrics = { val_accuracy: 0.5, val_loss: null, test_accuracy: 0.25 };
  for (const result of [
    { reason: 'completed', bestEpoch: 3, metrics },
    { reason: 'completed', metrics },
  ])
    insert.run(JSON.stringify(result));
  for (const result of ['{"reason":', null]) insert.run(result);
  connection.execute(`
    INSERT INTO series (id, name) VALUES (1, 'val_loss'), (2, 'val_accuracy');
    INSERT INTO summary (run, series, last, best, best_epoch)
      SELECT run.id, series.id, 0.75, 0.875, 9 FROM run, series;
  `);
  migrate(connection);
  assert.deepEqual(
    connection.sql('SELECT run, series, best, best_epoch AS epoch FROM summary WHERE best_epoch <> 9').all(),
    [{ run: 1, series: 2, best: 0.5, epoch: 3 }],
  );
  const kept = connection.sql('SELECT count(*) AS count FROM summary WHERE best = 0.875').get();
  assert.deepEqual(kept, { count: 7 });
  connection.close();
});

test('version 10: runs keep where they come from, and may be what a finding advised', async (context) => {
  const home = temporaryHome(context);
  const connection = openDatabase(join(home, 'history.db'));
  migrate(connection, migrations.slice(0, 9));
  const insert = connection.sql<[string], never>(
    `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
     VALUES ('r', 'stopped', 'd', 'd.csv', 0, 1, 1, 0, 'r d.csv small', ?)`,
  );
  for (let i = 0; i < 3; i++) insert.run(JSON.stringify(upgradedConfig));
  connection.execute("UPDATE run SET relation = 'fold', parent = 1 WHERE id = 2");
  migrate(connection);
  connection.execute("UPDATE run SET relation = 'advised by', parent = 1 WHERE id = 3");
  assert.throws(() => connection.execute("UPDATE run SET relation = 'cousin' WHERE id = 3"), /CHECK/);
  connection.close();
  const store = createStore(home);
  const found = await Promise.all([1, 2, 3].map(async (run) => store.run({ run })));
  assert.deepEqual(
    found.map(({ parent, relation }) => [parent, relation]),
    [
      [null, null],
      [1, 'fold'],
      [1, 'advised by'],
    ],
  );
  await store.close();
});

/** What a next version could be. */
const nextStep: Migration = {
  version: newest + 1,
  apply: (connection) => connection.execute("ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'"),
};

test('before a database is changed a copy is made, which opens with the old program', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const { id } = await store.createRun(newRun());
  await store.append({ run: id, points: [point('val_loss', 1, 0.25)] });
  await store.close();

  const file = join(home, 'history.db');
  const connection = openDatabase(file);
  migrate(connection, [...migrations, nextStep]);
  assert.deepEqual(connection.sql('SELECT id, colour FROM run').all(), [{ id, colour: 'blue' }]);
  connection.close();

  const backup = backupFile(file, newest);
  const restored = temporaryHome(context);
  writeFileSync(join(restored, 'history.db'), readFileSync(backup));
  const old = createStore(restored);
  assert.equal((await old.run({ run: id })).last.val_loss, 0.25);
  await old.close();
  assert.deepEqual(
    readdirSync(home).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('a step that fails undoes all steps of its migration', (context) => {
  const file = join(temporaryHome(context), 'history.db');
  const connection = openDatabase(file);
  migrate(connection);
  const before = describeFormat(connection);
  const failing: Migration = {
    version: newest + 2,
    apply: () => {
      throw new Error('no luck');
    },
  };
  assert.throws(() => migrate(connection, [...migrations, nextStep, failing]), /no luck/);
  assert.equal(connection.pragma('user_version'), newest);
  assert.deepEqual(describeFormat(connection), before);
  connection.close();
});

test('two programs that update one database at the same time make each step once', (context) => {
  const file = join(temporaryHome(context), 'history.db');
  const first = openDatabase(file);
  const second = openDatabase(file);
  let applied = 0;
  const counting: readonly Migration[] = [
    {
      version: 1,
      apply(connection) {
        applied++;
        connection.execute('CREATE TABLE one (a)');
        // The other program arrives while this one is at it, as far as a single thread can show: it has read version 0.
        assert.equal(second.pragma('user_version'), 0);
      },
    },
  ];
  migrate(first, counting);
  migrate(second, counting);
  assert.equal(applied, 1);
  first.close();
  second.close();
});

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
