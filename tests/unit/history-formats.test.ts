// Homes of every format there was, as text (tests/fixtures/histories): the program of today opens each of them with all that is in it, and
// every program refuses the homes of later ones.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openDatabase, type Connection } from '../../engine/history/database.ts';
import { backupFile, migrate, migrations } from '../../engine/history/migrations.ts';
import { createStore } from '../../engine/history/store.ts';
import { temporaryHome } from './fixtures/history.ts';

const folder = join(import.meta.dirname, '../fixtures/histories');
const newest = migrations.at(-1)!.version;

/** A home as the program of that version left it. */
function homeOf(context: TestContext, version: number): { readonly home: string; readonly file: string } {
  const home = temporaryHome(context);
  const file = join(home, 'history.db');
  const connection = openDatabase(file);
  connection.pragma('foreign_keys = OFF');
  connection.execute(readFileSync(join(folder, `v${version}.sql`), 'utf8'));
  connection.close();
  return { home, file };
}

/** The tables, indexes and triggers of a database, for comparing formats. */
function describeFormat(connection: Connection): unknown {
  const all = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
  return connection.sql(all).all();
}

test('there is a home of each format', () => {
  const versions = readdirSync(folder).flatMap((name) => /^v(\d+)\.sql$/.exec(name)?.[1] ?? []);
  assert.deepEqual(
    versions.map(Number).sort((a, b) => a - b),
    migrations.map(({ version }) => version),
    'node tests/fixtures/histories/make.ts writes the new one',
  );
});

test('a home of each format opens with all that is in it, and has the newest format then', async (context) => {
  const fresh = openDatabase(join(temporaryHome(context), 'history.db'));
  migrate(fresh);
  const expected = describeFormat(fresh);
  fresh.close();

  for (const { version } of migrations) {
    const { home, file } = homeOf(context, version);
    const store = createStore(home);
    const { runs, total } = await store.runs({ search: 'ünder' });
    assert.equal(total, 1, `version ${version}`);
    const { id, name, state, tags, notes, last, best, config, group } = runs[0];
    assert.deepEqual(
      { id, name, state, tags, notes, last, best: best['val_loss']?.value, group },
      {
        ...{ id: 1, name: 'Ünder way', state: 'completed', tags: ['kept'], notes: 'a note' },
        ...{ last: { val_loss: 0.375 }, best: 0.25, group: version < 8 ? null : 'first' },
      },
    );
    assert.deepEqual([config.learner, config.seed, config.settings], ['network', 7, { target: 't' }]);
    const points = await store.metrics({ run: 1, series: ['val_loss'] });
    assert.deepEqual(
      points.map(({ step, value }) => [step, value]),
      [
        [0, 0.5],
        [1, 0.25],
        [2, 0.375],
      ],
    );
    assert.equal((await store.log({ run: 1 }))[0].message, "It's learning");
    assert.equal(await store.getSetting({ key: 'theme' }), 'dark');
    assert.equal((await store.run({ run: 2 })).relation, version < 7 ? null : 'continued');
    await store.close();

    const now = openDatabase(file);
    assert.deepEqual(describeFormat(now), expected, `version ${version}`);
    now.close();
    assert.equal(existsSync(backupFile(file, version)), version < newest);
  }
});

test('a program of each older format refuses the homes of the next one, and leaves them as they are', (context) => {
  for (const { version } of migrations.slice(1)) {
    const { file } = homeOf(context, version);
    const before = readFileSync(file);
    const connection = openDatabase(file);
    assert.throws(() => migrate(connection, migrations.slice(0, version - 1)), { code: 'store.newer' });
    connection.close();
    assert.deepEqual(readFileSync(file), before);
  }
});
