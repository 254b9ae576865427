// Labs in the history: kept, listed, removed, carried over by a migration and out of a damaged file.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { openDatabase } from '../../engine/history/database.ts';
import { migrate, migrations } from '../../engine/history/migrations.ts';
import { salvage } from '../../engine/history/salvage.ts';
import { createStore } from '../../engine/history/store.ts';
import { labText, readLab } from '../../engine/lab/file.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { LabResult } from '../../engine/protocol/lab.ts';
import { newRun, temporaryHome } from './fixtures/history.ts';
import { exampleLab } from './fixtures/lab.ts';

test('labs are kept once, listed newest first, and removed', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  assert.deepEqual(await store.labs(), []);
  const first = await store.addLab({ result: exampleLab(1000), imported: false });
  const other = await store.addLab({ result: exampleLab(2000, 'server'), imported: true });
  assert.deepEqual(await store.lab({ lab: first.id }), { id: first.id, imported: false, result: exampleLab(1000) });
  assert.deepEqual(await store.labs(), [
    { id: other.id, imported: true, machine: 'server', startedAt: 2000, seconds: 60, devices: ['cpu'] },
    { id: first.id, imported: false, machine: 'desk', startedAt: 1000, seconds: 60, devices: ['cpu'] },
  ]);
  // A lab that comes back from a file is the one that is there.
  assert.equal((await store.addLab({ result: exampleLab(1000), imported: true })).id, first.id);
  await store.deleteLab({ lab: first.id });
  assert.equal((await store.labs()).length, 1);
  const unknown = (error: unknown): boolean => error instanceof InputError && error.code === 'input.unknown_lab';
  await assert.rejects(store.lab({ lab: first.id }), unknown);
  await assert.rejects(store.deleteLab({ lab: first.id }), unknown);
});

test('a lab that comes back from its own file is the one that is there, whatever was measured last', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const example = exampleLab();
  const [cpu] = example.devices;
  // As a device is put together: what only some have stands behind the rest.
  const scaling = { product: 256, samples: cpu.products };
  const measured: LabResult = { ...example, devices: [{ ...cpu, scaling }] };
  const { id } = await store.addLab({ result: measured, imported: false });
  const read = readLab(labText(measured), 'lab.json');
  assert.equal((await store.addLab({ result: read, imported: true })).id, id);
  const changed = { ...read, notes: [...read.notes, 'another'] };
  assert.notEqual((await store.addLab({ result: changed, imported: true })).id, id);
});

test('a lab of which a part is missing or damaged is left out of the list, and said to be unreadable', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  context.after(() => store.close());
  const { id } = await store.addLab({ result: exampleLab(1000), imported: false });
  const { devices, ...rest } = exampleLab(3000);
  const [{ latencies: _latencies, ...device }] = devices;
  const damaged = ['{}', 'null', '[]', JSON.stringify(rest), JSON.stringify({ ...rest, devices: [device] })];
  const database = openDatabase(join(home, 'history.db'));
  const insert = database.sql<[string]>(
    "INSERT INTO lab (machine, started_at, imported, result) VALUES ('desk', 3000, 0, ?)",
  );
  for (const result of damaged) insert.run(result);
  database.close();
  assert.deepEqual(
    (await store.labs()).map((lab) => lab.id),
    [id],
  );
  await assert.rejects(store.lab({ lab: id + 1 }), { code: 'store.unreadable_lab' });
  // Beside such a row of its time, a lab is kept as ever.
  const again = await store.addLab({ result: exampleLab(3000), imported: false });
  assert.equal((await store.labs())[0].id, again.id);
});

test('version 6: a history of version 5 keeps its runs and takes labs', async (context) => {
  const home = temporaryHome(context);
  const old = openDatabase(join(home, 'history.db'));
  migrate(old, migrations.slice(0, 5));
  old.close();
  const store = createStore(home);
  context.after(() => store.close());
  const run = await store.createRun(newRun());
  await store.addLab({ result: exampleLab(), imported: false });
  assert.equal((await store.labs()).length, 1);
  assert.equal((await store.run({ run: run.id })).id, run.id);
});

test('labs are salvaged; a history from before there were any is not incomplete for that', async (context) => {
  const [home, place] = [temporaryHome(context), temporaryHome(context)];
  const store = createStore(home);
  await store.addLab({ result: exampleLab(), imported: false });
  await store.close();
  const target = openDatabase(join(place, 'new.db'));
  migrate(target);
  assert.equal(salvage(join(home, 'history.db'), target).incomplete, false);
  assert.equal(target.sql<[], { count: number }>('SELECT count(*) AS count FROM lab').get()?.count, 1);

  const before = openDatabase(join(place, 'old.db'));
  migrate(before, migrations.slice(0, 5));
  before.close();
  assert.equal(salvage(join(place, 'old.db'), target).incomplete, false);
  target.close();
});
