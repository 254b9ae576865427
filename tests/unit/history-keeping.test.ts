// A history is never lost: backups made while runs train and restored without losing what was there, runs carried between homes, room
// given back.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { finishRestore, restoreHome } from '../../engine/history/archive/restore.ts';
import { encodeHeader } from '../../engine/history/archive/tar.ts';
import { writeArchive, type ArchiveWriter } from '../../engine/history/archive/write.ts';
import { migrate, migrations } from '../../engine/history/migrations.ts';
import { openDatabase } from '../../engine/history/database.ts';
import { repairHome } from '../../engine/history/repair.ts';
import { createStore } from '../../engine/history/store.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { repairText } from '../../engine/protocol/repair-text.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { exampleConfig, newRun, point, temporaryHome } from './fixtures/history.ts';

const quiet = { goOn: () => true, onProgress: () => undefined };
const dataset = 'ab'.repeat(16);

async function addRun(
  store: StoreService,
  name: string,
  state: 'completed' | 'running' = 'completed',
): Promise<number> {
  const { id } = await store.createRun(newRun({ name, dataset }));
  await store.updateRun({ run: id, patch: { state: 'running', startedAt: 1 } });
  const points = Array.from({ length: 50 }, (_, step) => point('val_loss', step + 1, id / (step + 1)));
  await store.append({
    run: id,
    points: [...points, point(`only_${name}`, 60, id)],
    log: [{ time: 1, level: 'info', message: `log of ${name}` }],
  });
  await store.writeFile({ run: id, file: 'checkpoint.bin', data: new Uint8Array(3000).fill(id) });
  await store.writeFile({ run: id, file: 'preprocessing.json', data: preprocessing(name) });
  if (state === 'completed') await store.updateRun({ run: id, patch: { state, endedAt: 2 } });
  return id;
}

const preprocessing = (name: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ features: [{ column: `Bill length ${name}` }], target: { column: 'species' }, leftOut: [] }),
  );

/** A home with runs, a dataset, settings and own prices; its store is open. */
async function busyHome(home: string): Promise<StoreService> {
  const store = createStore(home);
  await addRun(store, 'one');
  await addRun(store, 'puffin');
  await addRun(store, 'going', 'running');
  await store.setSetting({ key: 'theme', value: 'dark' });
  mkdirSync(join(home, 'datasets', dataset), { recursive: true });
  writeFileSync(join(home, 'datasets', dataset, 'data.parquet'), 'rows');
  mkdirSync(join(home, 'hardware'));
  writeFileSync(join(home, 'hardware', 'catalogue.json'), '{}');
  return store;
}

const refusedWith = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TrainyardError, String(error));
  assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
  return true;
};

/** All that a home tells of a run. */
async function told(store: StoreService, run: number): Promise<unknown> {
  const { name, state, config, last, best, tags } = await store.run({ run });
  const file = await store.readFile({ run, file: 'checkpoint.bin' });
  return [name, state, config, last, best, tags, await store.metrics({ run }), (await store.log({ run }))[0], file];
}

test('a backup made while a run goes on comes back whole in another home, settings and datasets included', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'all.backup');
  const report = await store.backUp({ job: 'b', file, datasets: true });
  assert.deepEqual([report.runs, report.datasets, report.bytes], [3, 1, statSync(file).size]);
  assert.deepEqual(readdirSync(out), ['all.backup'], 'nothing beside it');
  const expected = [await told(store, 1), await told(store, 2)];
  await store.close();

  const { setAside, head } = await restoreHome(other, file, quiet);
  assert.deepEqual([setAside, head.runs], [null, 3]);
  const restored = createStore(other);
  assert.deepEqual([await told(restored, 1), await told(restored, 2)], expected);
  assert.equal(await restored.getSetting({ key: 'theme' }), 'dark');
  // Whoever trained it is here in this test: it still counts as going on.
  assert.equal((await restored.metrics({ run: 3, series: ['val_loss'] })).length, 50);
  assert.ok(
    existsSync(join(other, 'hardware/catalogue.json')) && existsSync(join(other, 'datasets', dataset, 'data.parquet')),
  );
  assert.equal(existsSync(join(other, '.restoring')), false);
  await restored.close();
});

test('restoring keeps what was there; a killed exchange is finished by whoever opens the home', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'all.backup');
  await store.backUp({ job: 'b', file, datasets: false });
  await store.close();
  const there = createStore(other);
  await addRun(there, 'mine');
  await assert.rejects(restoreHome(other, file, quiet), refusedWith('store.busy', /another trainyard/i));
  await there.close();
  const { setAside } = await restoreHome(other, file, quiet);
  assert.match(setAside!, /before-restore-/);
  const old = createStore(setAside!);
  assert.deepEqual(
    [(await old.run({ run: 1 })).name, (await old.readFile({ run: 1, file: 'checkpoint.bin' }))?.length],
    ['mine', 3000],
  );
  await old.close();
  const now = createStore(other);
  assert.equal((await now.run({ run: 1 })).name, 'one');
  await now.close();

  // Somebody moves another history into the place of one that is open: its runs of the same numbers are others.
  const open = createStore(other);
  const moved = join(out, 'moved.db');
  renameSync(join(other, 'history.db'), moved);
  copyFileSync(moved, join(other, 'history.db'));
  const data = new Uint8Array(10);
  await assert.rejects(
    open.writeFile({ run: 1, file: 'best.safetensors', data }),
    refusedWith('store.replaced', /is no longer in .*: a backup was restored, or the folder moved or exchanged/),
  );
  await open.close();
  assert.equal(existsSync(join(other, 'runs/1/best.safetensors')), false);

  // As if it had been killed between two renames: the history has come, the runs have not.
  const staging = join(other, '.restoring');
  mkdirSync(staging);
  renameSync(join(other, 'runs'), join(staging, 'runs'));
  writeFileSync(
    join(staging, 'exchange.json'),
    JSON.stringify({ aside: 'aside', old: [], come: ['history.db', 'runs'] }),
  );
  const again = createStore(other);
  assert.equal((await again.readFile({ run: 1, file: 'checkpoint.bin' }))?.length, 3000);
  await again.close();
  finishRestore(other);
});

test('exports go with their runs: into the trash of a purge, and aside for other runs of the same numbers', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const exported = (at: string, run: number): string => join(at, 'exports', String(run), 'onnx.json');
  const exportOf = (at: string, run: number): void => {
    mkdirSync(join(exported(at, run), '..'), { recursive: true });
    writeFileSync(exported(at, run), 'model');
  };
  const store = await busyHome(home);
  for (const run of [1, 2]) exportOf(home, run);
  await store.deleteRuns({ runs: [1] });
  await store.purge({});
  assert.deepEqual(readdirSync(join(home, 'exports')), ['2']);
  const file = join(out, 'all.backup');
  await store.backUp({ job: 'b', file, datasets: false });
  await store.close();
  const there = createStore(other);
  for (const name of ['mine', 'too']) await addRun(there, name);
  exportOf(other, 2);
  await there.close();
  const { setAside } = await restoreHome(other, file, quiet);
  assert.deepEqual([existsSync(exported(other, 2)), existsSync(exported(setAside!, 2))], [false, true]);
});

test('what is left of a history that is gone is kept, too: its daily backups hold runs that the backup may not have', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'all.backup');
  await store.backUp({ job: 'b', file, datasets: false });
  await store.close();
  const daily = join('backups', 'history-2026-01-01.db');
  mkdirSync(join(other, 'backups'));
  writeFileSync(join(other, daily), 'runs');
  const { setAside } = await restoreHome(other, file, quiet);
  assert.equal(readFileSync(join(setAside!, daily), 'utf8'), 'runs');
});

test('a file that is damaged, cut short, none, or of a later version is refused, and the home stays as it is', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'all.backup');
  const { bytes } = await store.backUp({ job: 'b', file, datasets: false });
  await store.close();
  const whole = readFileSync(file);
  const there = createStore(other);
  await addRun(there, 'mine');
  await there.close();
  const before = readdirSync(other).sort();
  const refused = async (content: Uint8Array | null, message: RegExp): Promise<void> => {
    if (content !== null) writeFileSync(file, content);
    await assert.rejects(restoreHome(other, file, quiet), refusedWith('input.archive', message));
    assert.deepEqual(readdirSync(other).sort(), before);
  };
  const flipped = Buffer.from(whole);
  flipped[Math.floor(bytes / 2)] ^= 4;
  await refused(flipped, /is not what was written|is no archive/);
  await refused(Buffer.from('id,value\n1,2\n'), /no whole backup/);
  writeFileSync(file, whole);
  truncateSync(file, Math.floor(bytes * 0.7));
  await refused(null, /cut short|list of checksums is missing/);
  const climbing = Buffer.concat([
    whole.subarray(0, 1024),
    encodeHeader({ path: '../evil', bytes: 0, time: 0 }),
    whole.subarray(1024),
  ]);
  await refused(climbing, /has no place in a home/);
  const negative = encodeHeader({ path: 'runs/1/model.json', bytes: 0, time: 0 });
  negative.set(new TextEncoder().encode('-0000001000'), 124);
  negative.fill(32, 148, 156);
  const sum = negative.reduce((total, byte) => total + byte, 0);
  negative.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0`), 148);
  await refused(Buffer.concat([whole.subarray(0, 1024), negative, whole.subarray(1024)]), /has no size/);
  const kept = createStore(other);
  assert.equal((await kept.run({ run: 1 })).name, 'mine');
  await kept.close();
});

test('cancelled, or on a full disk, a backup leaves nothing behind and the old file as it was', async (context) => {
  const [home, out] = [temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'all.backup');
  writeFileSync(file, 'old');
  const work = store.backUp({ job: 'b', file, datasets: false });
  await store.cancelJob({ job: 'b' });
  await assert.rejects(work, refusedWith('run.cancelled', /./));
  assert.deepEqual([readdirSync(out), readFileSync(file, 'utf8')], [['all.backup'], 'old']);
  await assert.rejects(
    store.backUp({ job: 'c', file: join(out, 'no', 'such.backup'), datasets: false }),
    refusedWith('input.write', /folder is not there/),
  );
  // Nor does it take the place of what it is made of.
  for (const own of ['history.db', 'backups.tar/../history.db-wal', 'runs/1/all.backup']) {
    await assert.rejects(
      store.backUp({ job: 'e', file: join(home, own), datasets: false }),
      refusedWith('input.write', /keeps its own files there/),
    );
  }
  if (existsSync('/dev/full')) {
    await assert.rejects(
      store.backUp({ job: 'd', file: '/dev/full', datasets: false }),
      refusedWith('input.write', /no plain file/),
    );
  }
  await store.close();
});

test('runs taken up elsewhere get new numbers, know where they came from, and come once', async (context) => {
  const [home, other, third, fourth, out] = [0, 1, 2, 3, 4].map(() => temporaryHome(context));
  const store = await busyHome(home);
  const family = { parent: 1, relation: 'continued', start: { epoch: 3 } } as const;
  const child = await store.createRun(newRun({ name: 'child', dataset, family }));
  await store.updateRun({ run: child.id, patch: { state: 'stopped' } });
  const [file, back] = [join(out, 'some.runs'), join(out, 'back.runs')];
  await assert.rejects(
    store.exportRuns({ job: 'e', file, runs: [3], datasets: false }),
    refusedWith('input.run_active', /running/),
  );
  await store.exportRuns({ job: 'e', file, runs: [2, 1], datasets: true });
  const there = createStore(other);
  await addRun(there, 'mine');
  const report = await there.importRuns({ job: 'i', file });
  assert.deepEqual(
    report.imported.map(({ from, run, name }) => [from, run, name]),
    [
      [1, 2, 'one'],
      [2, 3, 'puffin'],
    ],
  );
  assert.deepEqual([report.known, report.datasets], [[], 1]);
  const [expected, found] = [await told(store, 2), await told(there, 3)];
  assert.deepEqual(found, expected, 'settings, curves, summaries, log and files');
  const { origin } = await there.run({ run: 3 });
  assert.deepEqual([origin?.run, origin?.machine], [2, report.machine]);
  assert.equal((await there.runs({ search: 'length puffin' })).total, 1, 'found by its columns');

  assert.deepEqual(
    (await there.importRuns({ job: 'j', file })).known.map(({ run }) => run),
    [2, 3],
  );
  // A parent that is here already stays the parent; one that did not come is none.
  await store.exportRuns({ job: 'e', file, runs: [1, 4], datasets: false });
  const [grown] = (await there.importRuns({ job: 'j', file })).imported;
  const { parent, relation, start } = await there.run({ run: grown.run });
  assert.deepEqual([grown.from, parent, relation, start], [4, 2, 'continued', { epoch: 3 }]);
  const orphanage = createStore(fourth);
  await store.exportRuns({ job: 'e', file, runs: [4], datasets: false });
  await orphanage.importRuns({ job: 'j', file });
  assert.equal((await orphanage.run({ run: 1 })).parent, null);
  await orphanage.close();
  // Home again by way of another machine it is the run that it was.
  await there.exportRuns({ job: 'e', file: back, runs: [3, 1], datasets: false });
  const home2 = await store.importRuns({ job: 'k', file: back });
  assert.deepEqual([home2.known.map(({ run }) => run), home2.imported.map(({ name }) => name)], [[2], ['mine']]);
  // A whole backup can be taken up run by run, too, beside what is there.
  await store.updateRun({ run: 3, patch: { queue: { position: 3, taken: true } } });
  await store.backUp({ job: 'b', file, datasets: false });
  const last = createStore(third);
  assert.equal((await last.importRuns({ job: 'l', file })).imported.length, 5);
  const { runs } = await last.runs({ states: ['interrupted'] });
  assert.deepEqual(
    runs.map(({ name, queue }) => [name, queue]),
    [['going', null]],
    'what went on there does not here, nor does it go on by itself',
  );
  await Promise.all([store, there, last].map((one) => one.close()));
});

test('a run that cannot be read takes no list along, is named by repair and not taken up elsewhere', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const file = join(out, 'some.runs');
  const store = await busyHome(home);
  await store.updateRun({ run: 3, patch: { state: 'completed' } });
  await addRun(store, 'whole');
  const change = (sql: string): void => {
    const database = new Database(join(home, 'history.db'));
    database.exec(sql);
    database.close();
  };
  change(`UPDATE run SET config = '{}' WHERE id = 1; UPDATE run SET progress = '[]' WHERE id = 2`);
  const { runs } = await store.runs({});
  assert.deepEqual(
    runs.map(({ id, config, error }) => [id, config.learner, error?.message ?? null]),
    [
      [4, 'network', null],
      [3, 'network', null],
      [2, 'network', 'What the history holds of this run cannot be read: its progress.'],
      [1, '?', 'What the history holds of this run cannot be read: its settings.'],
    ],
  );
  await store.exportRuns({ job: 'e', file, runs: [1], datasets: false });
  const there = createStore(other);
  await assert.rejects(
    there.importRuns({ job: 'i', file }),
    refusedWith('input.archive', /Run 1 of the file, one, is left out: its settings cannot be read/),
  );
  change(
    "UPDATE run SET config = (SELECT config FROM run WHERE id = 4) WHERE id = 1; UPDATE sample SET data = x'010203' WHERE run = 3",
  );
  writeFileSync(join(home, 'runs/1/preprocessing.json'), '{');
  await assert.rejects(
    store.exportRuns({ job: 'e', file, runs: [3], datasets: false }),
    refusedWith('run.unreadable', /curves of run 3 cannot be read/),
  );
  await store.backUp({ job: 'b', file, datasets: false });
  const { imported, refused } = await there.importRuns({ job: 'i', file });
  assert.deepEqual([imported.map(({ from }) => from), (await there.runs({})).total], [[4], 1]);
  assert.deepEqual(
    refused.map(({ why }) => why),
    [
      'its file preprocessing.json is not what its checksums say',
      'its progress cannot be read',
      'its curves cannot be read',
    ],
  );
  await Promise.all([store, there].map((one) => one.close()));
  const report = await repairHome(home);
  assert.deepEqual([report.problem, report.unreadable], [null, [{ run: 2, parts: ['progress'] }]]);
  assert.match(repairText(report).join(' '), /Run 2: its progress cannot be read/);
});

test('runs are taken up one by one: others are heard in between, and what has come by a cancel stays', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const store = await busyHome(home);
  const file = join(out, 'some.runs');
  await store.exportRuns({ job: 'e', file, runs: [1, 2], datasets: false });
  const there = createStore(other);
  const stop = there.onChanged(() => void there.cancelJob({ job: 'i' }));
  await assert.rejects(there.importRuns({ job: 'i', file }), refusedWith('run.cancelled', /./));
  stop();
  assert.equal((await there.runs({})).total, 1);
  const { known, imported } = await there.importRuns({ job: 'j', file });
  assert.deepEqual([known.map(({ from }) => from), imported.map(({ from }) => from)], [[1], [2]]);
  assert.deepEqual(
    readdirSync(other).filter((name) => name.startsWith('.importing')),
    [],
  );
  await Promise.all([store.close(), there.close()]);
});

test('a file of runs from an earlier version is brought up to this one', async (context) => {
  const [home, out] = [temporaryHome(context), temporaryHome(context)];
  const [history, file] = [join(out, 'history.db'), join(out, 'old.runs')];
  const old = openDatabase(history);
  migrate(old, migrations.slice(0, 6));
  old
    .sql<[string], never>(
      `INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
       VALUES ('walrus', 'completed', 'd', 'd.csv', 5, 1, 1, 0, 'walrus', ?)`,
    )
    .run(JSON.stringify(exampleConfig));
  old.pragma('journal_mode = DELETE');
  old.close();
  const head = { format: 1, kind: 'runs', created: 1, machine: 'elsewhere', runs: 1, datasets: 0 } as const;
  const fill = (writer: ArchiveWriter): Promise<void> => writer.file('history.db', history);
  await writeArchive(file, { head, bytes: 1e5, stage: 'Writing', fill }, quiet);
  const store = createStore(home);
  assert.equal((await store.importRuns({ job: 'i', file })).imported.length, 1);
  assert.equal((await store.runs({ search: 'walrus "learning rate 0.001"' })).total, 1);
  assert.equal((await store.runs({ search: 'walrus "rate learning"' })).total, 0);
  await store.close();
});

test('what takes room is told; the trash empties itself after a month; the history gives back its gaps', async (context) => {
  const home = temporaryHome(context);
  let store = createStore(home);
  for (const name of ['one', 'puffin', 'three']) await addRun(store, name);
  await store.deleteRuns({ runs: [1, 2] });
  writeFileSync(join(home, 'history.damaged-2026-01-01T00-00-00.db'), Buffer.alloc(5000));
  const parts = new Map((await store.usage()).parts.map((part) => [part.id, part]));
  assert.equal(parts.get('checkpoints')?.bytes, 3000);
  assert.deepEqual([parts.get('trash')?.count, parts.get('set_aside')?.bytes], [2, 5000]);
  assert.ok(parts.get('trash')!.bytes > 6000 && parts.get('history')!.bytes > 10_000);
  assert.deepEqual(await store.dropSetAside(), { bytes: 5000 });
  await store.close();

  const database = new Database(join(home, 'history.db'));
  database.prepare('UPDATE run SET deleted_at = ? WHERE id = 1').run(Date.now() - 31 * 24 * 3_600_000);
  database.close();
  writeFileSync(join(home, 'history.db-seal'), '');
  store = createStore(home);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(
    (await store.runs({ deleted: true })).runs.map(({ id }) => id),
    [2],
    'a month is over for one of them',
  );
  assert.equal(existsSync(join(home, 'runs/1')), false);
  for (let index = 0; index < 20; index++) await addRun(store, 'x'.repeat(2000));
  const runs = (await store.runs({})).runs.map(({ id }) => id).filter((id) => id > 3);
  await store.deleteRuns({ runs });
  await store.purge({});
  const { before, after } = await store.compact();
  assert.ok(after < before, `${after} of ${before}`);
  await store.updateRun({ run: 3, patch: { state: 'running' } });
  await assert.rejects(store.compact(), refusedWith('input.run_active', /Run 3/));
  await store.close();
  await createStore(home).close();
});
