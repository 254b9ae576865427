// The history's runs: created, changed, found, thrown away and brought back; their files, log and settings.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { requests } from '../../electron/main/requests.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { recordFields, type RunQuery, type StoreService } from '../../engine/protocol/store.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import { exampleConfig, newRun, point, temporaryHome } from './fixtures/history.ts';

const refusedAs = (code: string) => (error: unknown) => error instanceof InputError && error.code === code;

const someProgress = {
  epoch: 1,
  epochs: 10,
  step: 9,
  steps: 90,
  examplesPerSecond: 1e6,
  secondsTraining: 1.2,
  secondsElapsed: 1.5,
  secondsLeft: null,
  loss: 0.5,
};

test('a run is what was put in, in a new process too', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const { id } = await store.createRun(newRun());
  const progress = someProgress;
  const counts = { train: 8, validation: 1, test: 1 };
  const data = { counts, givenSplits: ['train', 'test'], leftOut: [{ column: 'a', reason: 'constant' }] } as const;
  const error = { name: 'TrainyardError', code: 'device.lost', message: 'Lost.', hint: 'Retry.' } as const;
  await store.updateRun({
    run: id,
    patch: {
      state: 'running',
      device: 'cpu',
      threads: 2,
      parameters: 99,
      startedAt: 5,
      progress,
      data,
      error,
      tags: ['a'],
    },
  });
  await store.updateRun({ run: id, patch: { endedAt: 7, name: 'renamed', notes: 'good', starred: true } });
  const before = await store.run({ run: id });
  await store.close();

  const again = createStore(home);
  const record = await again.run({ run: id });
  assert.deepEqual(record, before);
  assert.deepEqual(
    { ...record, createdAt: 0 },
    {
      id,
      name: 'renamed',
      state: 'running',
      dataset: 'd1',
      datasetName: 'penguins.csv',
      config: exampleConfig,
      device: 'cpu',
      threads: 2,
      parameters: 99,
      createdAt: 0,
      startedAt: 5,
      endedAt: 7,
      progress,
      data,
      last: {},
      best: {},
      result: null,
      error,
      tags: ['a'],
      notes: 'good',
      starred: true,
      deletedAt: null,
      hasCheckpoint: false,
      group: null,
      origin: null,
      queue: null,
      request: null,
      parent: null,
      relation: null,
      start: null,
    },
  );
  await again.updateRun({ run: id, patch: { error: null, endedAt: null, progress: null } });
  const cleared = await again.run({ run: id });
  assert.deepEqual([cleared.error, cleared.endedAt, cleared.progress], [null, null, null]);
  await again.close();
});

test('unknown runs are refused by every method', async (context) => {
  const store = createStore(temporaryHome(context));
  const unknown = refusedAs('input.unknown_run');
  await assert.rejects(store.run({ run: 1 }), unknown);
  await assert.rejects(store.updateRun({ run: 1, patch: {} }), unknown);
  await assert.rejects(store.append({ run: 1, points: [point('train_loss', 1, 1)] }), unknown);
  await assert.rejects(store.metrics({ run: 1 }), unknown);
  await assert.rejects(store.log({ run: 1 }), unknown);
  await assert.rejects(store.truncate({ run: 1, afterStep: 0 }), unknown);
  await assert.rejects(store.deleteRuns({ runs: [1] }), unknown);
  await assert.rejects(store.restoreRuns({ runs: [1] }), unknown);
  await assert.rejects(store.writeFile({ run: 1, file: 'model.json', data: new Uint8Array() }), unknown);
  await assert.rejects(store.readFile({ run: 1, file: 'model.json' }), unknown);
  await store.close();
});

test('a change that expects another state is refused and changes nothing', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  await store.updateRun({ run: id, patch: { state: 'running' }, when: ['queued'] });
  await assert.rejects(store.updateRun({ run: id, patch: { name: 'x' }, when: ['queued', 'paused'] }), {
    code: 'run.changed',
    message: `Run ${id} is running, not queued or paused.`,
  });
  assert.equal((await store.run({ run: id })).name, 'first');
  await store.close();
});

test('a request is handed over once', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  await store.updateRun({ run: id, patch: { request: 'pause' } });
  assert.equal((await store.run({ run: id })).request, 'pause');
  assert.deepEqual(await store.append({ run: id, points: [] }), { request: 'pause' });
  assert.deepEqual(await store.append({ run: id, points: [] }), { request: null });
  assert.equal((await store.run({ run: id })).request, null);
  await store.close();
});

/** Three runs that differ in everything one can look for. */
async function threeRuns(store: StoreService): Promise<void> {
  const names = ['Äpfel', 'birne 10', 'Citrus'];
  for (const [index, name] of names.entries()) {
    const { id } = await store.createRun(
      newRun({ name, dataset: `d${index % 2}`, datasetName: `Data ${index % 2}.csv` }),
    );
    await store.updateRun({
      run: id,
      patch: {
        state: (['completed', 'failed', 'running'] as const)[index],
        tags: index === 0 ? [] : ['fast', `tag ${index}`],
        notes: index === 2 ? 'first good ONE' : '',
        starred: index === 1,
        parameters: [30, 10, 20][index],
        startedAt: 1000,
        endedAt: index === 2 ? null : 2000 - index,
        progress: index === 2 ? null : { ...someProgress, secondsElapsed: 2 - index },
      },
    });
  }
  await store.append({ run: 1, points: [point('val_loss', 1, 0.5), point('val_loss', 2, 0.9), point('acc', 2, 0.1)] });
  await store.append({ run: 3, points: [point('val_loss', 1, 0.7), point('val_loss', 2, NaN)] });
}

test('runs are found by text, state, dataset, tags, star, and sorted by any column or metric', async (context) => {
  const store = createStore(temporaryHome(context));
  await threeRuns(store);
  const found = async (query: RunQuery): Promise<readonly number[]> =>
    (await store.runs(query)).runs.map(({ id }) => id);

  assert.deepEqual(await found({}), [3, 2, 1], 'the newest first');
  assert.deepEqual(await found({ search: 'äPFEL' }), [1]);
  assert.deepEqual(await found({ search: 'good one' }), [3], 'in the notes, whatever the case');
  assert.deepEqual(await found({ search: 'one first' }), [3], 'every word, in any order');
  assert.deepEqual(await found({ search: 'small' }), [3, 2, 1], 'the preset');
  assert.deepEqual(await found({ search: 'data 1.csv' }), [2]);
  assert.deepEqual(await found({ search: '%' }), [], 'no wildcards');
  assert.deepEqual(await found({ states: ['completed', 'running'] }), [3, 1]);
  assert.deepEqual(await found({ states: [] }), []);
  assert.deepEqual(await found({ dataset: 'd0' }), [3, 1]);
  assert.deepEqual(await found({ tags: ['fast'] }), [3, 2]);
  assert.deepEqual(await found({ tags: ['fast', 'tag 1'] }), [2]);
  assert.deepEqual(await found({ starred: true }), [2]);
  assert.deepEqual(await found({ starred: false, states: ['running'], search: 'citrus' }), [3]);

  const by = (sort: string, descending = false): RunQuery => ({ sort: { by: sort, descending } });
  assert.deepEqual(await found(by('name')), [2, 3, 1]);
  assert.deepEqual(await found(by('parameters')), [2, 3, 1]);
  assert.deepEqual(await found(by('parameters', true)), [1, 3, 2]);
  assert.deepEqual(await found(by('createdAt')), [1, 2, 3]);
  assert.deepEqual(await found(by('duration')), [2, 1, 3]);
  assert.deepEqual(await found(by('endedAt', true)), [1, 2, 3], 'without a value: last');
  assert.deepEqual(await found(by('best.val_loss')), [1, 3, 2]);
  assert.deepEqual(await found(by('best.val_loss', true)), [3, 1, 2]);
  assert.deepEqual(await found(by('last.val_loss')), [1, 3, 2], 'NaN counts as no value');
  assert.deepEqual(await found(by('best.nothing')), [3, 2, 1]);
  await assert.rejects(store.runs(by('id; DROP TABLE run')), refusedAs('input.sort'));

  assert.deepEqual(await store.runs({ limit: 1, offset: 1 }).then(({ total, runs }) => [total, runs[0].id]), [3, 2]);
  await store.close();
});

test('a list tells of each run what it is asked for', async (context) => {
  const store = createStore(temporaryHome(context));
  await threeRuns(store);
  const last = { limit: 1, sort: { by: 'createdAt', descending: false } };
  const { runs } = await store.runs({ ...last, fields: ['id', 'best'], series: ['val_loss', 'nothing'] });
  assert.deepEqual(runs, [{ id: 1, best: { val_loss: { value: 0.5, epoch: 0.1 } } }]);
  const whole = await store.runs({ ...last, fields: recordFields });
  assert.deepEqual(whole.runs, [await store.run({ run: 1 })], 'everything, by name');
  assert.deepEqual(await store.runs(last), whole, 'everything, by default');
  assert.deepEqual(Object.keys(whole.runs[0].last), ['acc', 'val_loss']);
  assert.deepEqual(await store.runs({ limit: 0, fields: ['id'] }), { total: 3, runs: [] });
  assert.equal(requests.runs.safeParse({ fields: recordFields, series: ['val_loss'] }).success, true);
  for (const refused of [{ fields: ['owner_pid'] }, { fields: 'id' }, { series: [1] }])
    assert.equal(requests.runs.safeParse(refused).success, false, 'asked by the window');
  await store.close();
});

test('renaming, tagging and noting a run changes where it is found', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun({ name: 'alpha' }));
  await store.updateRun({ run: id, patch: { name: 'beta', tags: ['gamma'], notes: 'delta' } });
  const total = async (search: string): Promise<number> => (await store.runs({ search })).total;
  assert.deepEqual(await Promise.all(['alpha', 'beta', 'gamma', 'delta'].map(total)), [0, 1, 1, 1]);
  // Its group, the columns that it learned from, and its settings, of which only those with an effect.
  await store.updateRun({ run: id, patch: { group: 'Winter sweep' } });
  const preprocessing = { features: [{ column: 'Flipper length' }], target: { column: 'Species' }, leftOut: [] };
  const data = new TextEncoder().encode(JSON.stringify(preprocessing));
  await store.writeFile({ run: id, file: 'preprocessing.json', data });
  const words = [
    'winter',
    'flipper species',
    'fl',
    '"learning rate 0.001"',
    'adam beta',
    'dense 64',
    'momentum',
    'ipper x',
  ];
  assert.deepEqual(await Promise.all(words.map(total)), [1, 1, 1, 1, 1, 1, 0, 0]);
  assert.deepEqual(await store.groups(), [{ name: 'Winter sweep', runs: 1 }]);
  assert.equal((await store.runs({ group: 'Winter sweep' })).total, 1);
  await store.updateRun({ run: id, patch: { group: null } });
  assert.deepEqual([await store.groups(), await total('winter')], [[], 0]);
  await store.close();
});

test('deleting is undone by restoring; purging is for good and leaves no file', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  for (let index = 0; index < 3; index++) {
    const { id } = await store.createRun(newRun());
    await assert.rejects(store.deleteRuns({ runs: [id] }), refusedAs('input.run_active'));
    await store.updateRun({ run: id, patch: { state: 'completed' } });
    await store.append({ run: id, points: [point('val_loss', 1, 1)], log: [{ time: 1, level: 'info', message: 'x' }] });
    await store.writeFile({ run: id, file: 'model.json', data: new Uint8Array(100) });
  }
  await store.deleteRuns({ runs: [1, 2] });
  assert.deepEqual(
    (await store.runs({})).runs.map(({ id }) => id),
    [3],
  );
  assert.equal((await store.runs({ deleted: true })).total, 2);

  await store.restoreRuns({ runs: [1] });
  const restored = await store.run({ run: 1 });
  assert.equal(restored.deletedAt, null);
  assert.equal(restored.best.val_loss.value, 1);
  assert.equal((await store.readFile({ run: 1, file: 'model.json' }))?.length, 100);

  const folder = join(home, 'runs', '2');
  assert.deepEqual(await store.purge({ olderThan: 60_000 }), { runs: 0, bytes: 0 }, 'too young');
  assert.deepEqual(await store.purge({ runs: [1, 3] }), { runs: 0, bytes: 0 }, 'not in the trash');
  assert.deepEqual(readdirSync(folder).sort(), ['checksums.json', 'model.json', 'run.json']);
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  assert.deepEqual(await store.purge({ runs: [1, 2, 3] }), { runs: 1, bytes });
  await assert.rejects(store.run({ run: 2 }), refusedAs('input.unknown_run'));
  assert.deepEqual(readdirSync(join(home, 'runs')).sort(), ['1', '3']);

  await store.deleteRuns({ runs: [3] });
  await store.purge({});
  assert.equal((await store.createRun(newRun())).id, 4, 'the number of a purged run is not used again');
  await store.close();
});

test('run files are replaced as a whole, in the order of the calls, and only known ones', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const { id } = await store.createRun(newRun());
  assert.equal(await store.readFile({ run: id, file: 'checkpoint.bin' }), null);
  assert.equal((await store.run({ run: id })).hasCheckpoint, false);

  const versions = [0, 1, 2, 3].map((value) => new Uint8Array(50_000 >> value).fill(value));
  await Promise.all(versions.map((data) => store.writeFile({ run: id, file: 'checkpoint.bin', data })));
  assert.deepEqual(await store.readFile({ run: id, file: 'checkpoint.bin' }), versions[3]);
  assert.equal((await store.run({ run: id })).hasCheckpoint, true);
  assert.deepEqual(await store.readFile({ run: id, file: 'checkpoint.previous.bin' }), versions[2]);
  assert.deepEqual(
    readdirSync(join(home, 'runs', String(id))).sort(),
    ['checkpoint.bin', 'checkpoint.previous.bin', 'checksums.json', 'run.json'],
    'no temporary file is left',
  );
  await store.updateRun({ run: id, patch: { state: 'completed' } });
  assert.equal(await store.readFile({ run: id, file: 'checkpoint.previous.bin' }), null, 'needed no more');
  rmSync(join(home, 'runs', String(id), 'checkpoint.bin'));
  await assert.rejects(store.readFile({ run: id, file: 'checkpoint.bin' }), { code: 'run.file_gone' });
  assert.equal(
    (await store.run({ run: id })).hasCheckpoint,
    true,
    'it has kept one: that it is gone is said where it is read',
  );

  for (const file of ['../../history.db', 'other.txt', ''] as string[] as RunFile[]) {
    await assert.rejects(store.writeFile({ run: id, file, data: new Uint8Array() }), refusedAs('input.run_file'));
    await assert.rejects(store.readFile({ run: id, file }), refusedAs('input.run_file'));
  }
  await store.close();
});

test('a new run never inherits the folder of an older history', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  mkdirSync(join(home, 'runs', '1'), { recursive: true });
  writeFileSync(join(home, 'runs', '1', 'checkpoint.bin'), 'old');
  const record = await store.createRun(newRun());
  assert.equal(record.hasCheckpoint, false);
  const [own, kept] = readdirSync(join(home, 'runs')).sort();
  assert.equal(own, '1');
  assert.match(kept, /^1\.old-/);
  assert.ok(existsSync(join(home, 'runs', kept, 'checkpoint.bin')));
  await store.purge({});
  assert.ok(existsSync(join(home, 'runs', kept, 'checkpoint.bin')), 'purging leaves it alone');
  await store.close();
});

test('the log and the settings keep what they are given', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  const lines = [
    { time: 1, level: 'info', message: 'Started.' },
    { time: 2, level: 'warning', message: 'Größe: 5' },
  ] as const;
  await store.append({ run: id, points: [], log: lines });
  await store.append({ run: id, points: [], log: [{ time: 1.5, level: 'error', message: 'late' }] });
  const late = { time: 2, level: 'error', message: 'late' };
  assert.deepEqual(await store.log({ run: id }), [...lines, late]);
  assert.deepEqual(await store.log({ run: id, after: 2 }), [late], 'what is new');
  assert.deepEqual(await store.log({ run: id, after: 3 }), []);

  assert.equal(await store.getSetting({ key: 'theme' }), null);
  await store.setSetting({ key: 'theme', value: { dark: true, columns: [1, 2] } });
  assert.deepEqual(await store.getSetting({ key: 'theme' }), { dark: true, columns: [1, 2] });
  await store.setSetting({ key: 'theme', value: null });
  assert.equal(await store.getSetting({ key: 'theme' }), null);
  await store.close();
});

test('a run takes over a file and points of its parent, and says what it comes from', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const { id: parent } = await store.createRun(newRun());
  const points = [1, 2, 3].map((step) => point('train_loss', step, 1 / step));
  await store.append({ run: parent, points });
  const family = { parent, relation: 'continued', start: { epoch: 2 }, file: 'checkpoint.bin', untilStep: 2 } as const;
  await assert.rejects(store.createRun(newRun({ family })), refusedAs('run.no_start'));
  assert.equal((await store.runs({})).total, 1, 'nothing is left of a run that has nothing to begin with');

  const data = new Uint8Array([1, 2, 3]);
  await store.writeFile({ run: parent, file: 'checkpoint.bin', data });
  const child = await store.createRun(newRun({ family }));
  assert.deepEqual([child.parent, child.relation, child.start], [parent, 'continued', { epoch: 2 }]);
  assert.deepEqual(child.last, { train_loss: 1 / 2 });
  assert.deepEqual(await store.metrics({ run: child.id }), points.slice(0, 2));
  // The parent goes its own way.
  await store.writeFile({ run: parent, file: 'checkpoint.bin', data: new Uint8Array([9]) });
  assert.deepEqual(await store.readFile({ run: child.id, file: 'start.bin' }), data);
  assert.equal(await store.isChecked({ run: child.id, file: 'start.bin' }), true);
  const children = await store.runs({ parent, fields: ['id'] });
  assert.deepEqual(children, { total: 1, runs: [{ id: child.id }] });

  await store.updateRun({ run: parent, patch: { state: 'completed' } });
  await store.deleteRuns({ runs: [parent] });
  await store.purge({ runs: [parent] });
  assert.equal((await store.run({ run: child.id })).parent, parent, 'that it has one stays known');
  assert.deepEqual(await store.readFile({ run: child.id, file: 'start.bin' }), data);
  // At its end only what it started from is of use to anybody: a project that trains it anew.
  await store.writeFile({ run: child.id, file: 'best.safetensors', data });
  const started = { parent: child.id, relation: 'started from', start: {}, file: 'best.safetensors' } as const;
  const other = await store.createRun(newRun({ family: started }));
  for (const run of [child.id, other.id]) await store.updateRun({ run, patch: { state: 'completed' } });
  await store.writeFile({ run: child.id, file: 'best.safetensors', data: new Uint8Array([9]) });
  assert.equal(await store.readFile({ run: child.id, file: 'start.bin' }), null);
  assert.deepEqual(await store.readFile({ run: other.id, file: 'start.bin' }), data);
  await store.close();
});
