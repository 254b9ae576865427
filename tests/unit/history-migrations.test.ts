// The database's format: made, and brought up to date step by step, with a backup.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isNetwork } from '../../engine/learners/network/declaration.ts';
import { openDatabase } from '../../engine/history/database.ts';
import type { Connection } from '../../engine/history/database.ts';
import { backupFile, migrate, migrations } from '../../engine/history/migrations.ts';
import type { Migration } from '../../engine/history/migrations.ts';
import { parseRow } from '../../engine/history/records.ts';
import { completeConfig } from '../../engine/history/configs.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { createStore } from '../../engine/history/store.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

const newest = migrations.at(-1)!.version;

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
