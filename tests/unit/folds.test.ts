// Cross-validation: its figures are scikit-learn's, and the life of a run that is made of runs: order, pause, stop, death, failing folds, the trash.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { foldScores, joinFolds } from '../../engine/evaluation/folds.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import type { EvaluatedRows, FoldTable, ScoreName } from '../../engine/protocol/evaluated-rows.ts';
import { missingFolds } from '../../engine/protocol/folds.ts';
import type { RunState } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { foldsOf } from '../../engine/runs/cross-validation.ts';
import type { RunHosts } from '../../engine/runs/hosts.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, linearConfig, slow, tableConfig } from './fixtures/training.ts';

interface Scored {
  readonly fold: readonly number[];
  readonly truth: readonly number[];
  readonly scores: Readonly<Record<string, { folds: readonly number[]; mean: number; deviation: number }>>;
}
const fixture = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'fixtures/folds-sklearn.json'), 'utf8')) as {
  readonly classes: Scored & { readonly p: readonly (readonly number[])[] };
  readonly values: Scored & { readonly predicted: readonly number[] };
};

const { classes, values } = fixture;
const sourcesOf = (rows: number): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);
const classRows: EvaluatedRows = {
  kind: 'classes',
  classes: ['setosa', 'versicolor', 'virginica'],
  sources: sourcesOf(classes.truth.length),
  truth: Int32Array.from(classes.truth),
  probabilities: Float64Array.from(classes.p.flat()),
};
const valueRows: EvaluatedRows = {
  kind: 'values',
  target: 'progression',
  sources: sourcesOf(values.truth.length),
  truth: Float64Array.from(values.truth),
  predicted: Float64Array.from(values.predicted),
};

test('the scores of folds, their mean and their deviation are those of scikit-learn', () => {
  for (const [rows, wanted] of [
    [classRows, classes],
    [valueRows, values],
  ] as const) {
    const { folds, spread } = foldScores(rows, Uint8Array.from(wanted.fold));
    for (const [name, { folds: each, mean, deviation }] of Object.entries(wanted.scores)) {
      const found = spread[name as ScoreName]!;
      assert.ok(Math.abs(found.mean - mean) < 1e-9 && Math.abs(found.deviation - deviation) < 1e-9, name);
      each.forEach((score, at) => assert.ok(Math.abs(folds[at].scores[name as ScoreName]! - score) < 1e-9, name));
    }
  }
});

test('the tables of folds come together in the order of the dataset, each row once', () => {
  const part = (fold: number): FoldTable => {
    const places = [...classes.fold.keys()].filter((place) => classes.fold[place] === fold).reverse();
    const rows: EvaluatedRows = {
      ...classRows,
      sources: Uint32Array.from(places),
      truth: Int32Array.from(places, (place) => classes.truth[place]),
      probabilities: Float64Array.from(places.flatMap((place) => [...classes.p[place]])),
    };
    const linear = rows.probabilities.map((p) => 1 - p);
    return { fold, table: { rows, baselines: { constant: [fold, 0, 0], linear }, untold: 1 } };
  };
  const parts = [4, 2, 1, 5, 3].map(part);
  const { rows, baselines, folds, untold } = joinFolds(parts);
  assert.deepEqual(rows, classRows);
  assert.deepEqual([...folds.numbers], classes.fold);
  assert.deepEqual(baselines.linear, classRows.kind === 'classes' ? classRows.probabilities.map((p) => 1 - p) : null);
  assert.ok(Math.abs(baselines.constant[0] - 3) < 1e-12);
  assert.equal(untold, 5);
  assert.throws(() => joinFolds([...parts, part(2)]), /is in two folds/);
});

function setUp(context: TestContext, hosts: RunHosts = createTableHosts(), home = temporaryHome(context)) {
  const store = createStore(home);
  const data = createTableData();
  const manager = createRunManager({ store, data, hosts, owner: processOwner() });
  context.after(async () => {
    await manager.stopAll();
    await store.close();
  });
  return { store, manager, data };
}

async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail(what);
}

/** The run of a fold, once it is in a state. */
const foldIn = (store: StoreService, run: number, fold: number, state: RunState) =>
  until(async () => {
    const found = (await foldsOf(store, run)).get(fold);
    return found?.state === state ? found : undefined;
  }, `fold ${fold} is not ${state}`);

const states = async (store: StoreService, run: number): Promise<readonly RunState[]> =>
  [...(await foldsOf(store, run)).values()].map(({ state }) => state);

test('folds are runs under the turn of their parent, which has their mean; they go to the trash with it', async (context) => {
  const { store, manager, data } = setUp(context);
  const { id: run } = await manager.start({ name: 'crossed', config: tableConfig(3, { folds: 3 }) });
  const { id: later } = await manager.start({ config: tableConfig(1) });
  const record = await manager.finished({ run });
  assert.equal(record.state, 'completed');
  const folds = await foldsOf(store, run);
  assert.deepEqual([...folds.keys()], [1, 2, 3]);
  for (const [fold, child] of folds) {
    assert.deepEqual([child.name, child.parent, child.relation], [`crossed, fold ${fold} of 3`, run, 'fold']);
    assert.deepEqual([child.config.settings.fold, child.config.folds], [{ number: fold, of: 3 }, undefined]);
  }
  const last = folds.get(3)!;
  assert.ok(
    (await manager.finished({ run: later })).startedAt! >= last.endedAt!,
    'who came later waits for all of them',
  );
  const { mean, deviation, folds: results } = record.result!.folds!;
  assert.equal(mean.test_accuracy, last.result!.metrics.test_accuracy, 'the same rows each time here');
  assert.ok(deviation.test_accuracy < 1e-12 && results.every(({ problem }) => problem === null));
  assert.equal(record.best.val_accuracy.value, record.result!.metrics.val_accuracy);
  assert.deepEqual([record.progress!.step, record.progress!.steps, record.result!.steps], [54, 54, 54]);
  assert.deepEqual([record.parameters, record.data?.counts.test], [last.parameters, 12]);
  const children = [...folds.values()].map(({ id }) => id);
  assert.deepEqual(
    (await store.bills()).map((bill) => bill.run),
    [...children, later],
    'what it costs stands with its folds',
  );
  assert.deepEqual([data.held.size, manager.active()], [0, []]);

  const listed = async (query: object) => (await store.runs(query)).runs.map(({ id }) => id).sort((a, b) => a - b);
  assert.deepEqual(
    await listed({ withoutFolds: true }),
    [run, later].sort((a, b) => a - b),
  );
  assert.deepEqual(await listed({ search: 'crossed' }), [run, ...children]);
  const [, second] = children;
  const parted = {
    code: 'input.fold',
    message: `Run ${second} is fold 2 of run ${run} and cannot be deleted by itself.`,
  };
  await assert.rejects(store.deleteRuns({ runs: [later, second] }), parted);
  assert.deepEqual(await listed({ search: 'crossed' }), [run, ...children]);
  await store.deleteRuns({ runs: [second, run] });
  assert.deepEqual(await listed({}), [later]);
  await assert.rejects(store.purge({ runs: [second] }), parted);
  await store.restoreRuns({ runs: [run] });
  assert.deepEqual(await listed({ search: 'crossed' }), [run, ...children]);
  await store.deleteRuns({ runs: [run] });
  assert.equal((await store.purge({ runs: [run] })).runs, 4);

  await assert.rejects(manager.start({ config: tableConfig(1, { folds: 2 }), from: { run: later } }), {
    code: 'input.folds',
  });
});

test('pause, continue and stop act on the fold at work; what is done is not done again', async (context) => {
  const { store, manager } = setUp(context, createTableHosts(slow(1)));
  const settings = { splitBy: { kind: 'group', column: 'owner' } } as const;
  const { id: run } = await manager.start({ config: tableConfig(60, { folds: 3, settings }) });
  await foldIn(store, run, 1, 'running');
  await manager.pause({ run });
  await foldIn(store, run, 1, 'paused');
  assert.equal((await store.run({ run })).state, 'paused');
  await manager.continue({ run });
  await foldIn(store, run, 1, 'completed');
  await foldIn(store, run, 2, 'running');
  await manager.stop({ run });
  const stopped = await manager.finished({ run });
  assert.equal(stopped.state, 'stopped');
  assert.deepEqual(await states(store, run), ['completed', 'stopped']);
  // As a version had it that dealt groups out by their rows alone: all folds are of one division.
  for (const { id, config } of (await foldsOf(store, run)).values()) {
    const { dealt, ...fold } = config.settings.fold!;
    assert.equal(dealt, 'by class');
    await store.updateRun({ run: id, patch: { config: { ...config, settings: { ...settings, fold } } } });
  }
  const first = (await foldsOf(store, run)).get(1);
  assert.match(stopped.result!.doubt!, /^1 of 3 folds stands \(fold 2: it is stopped; 1 was not begun\)\./);
  // It and one of its folds by hand would be two trainings on one device: the second is refused, whichever it is.
  const { id: ahead } = await manager.start({ config: tableConfig(200) });
  const second = (await foldsOf(store, run)).get(2)!.id;
  await manager.resume({ run: second });
  await assert.rejects(manager.resume({ run }), {
    code: 'input.fold_twice',
    message: `Fold 2 of run ${run} is at work by itself: run ${second} is queued.`,
  });
  await manager.stop({ run: second });
  await manager.finished({ run: second });
  await manager.resume({ run });
  await assert.rejects(manager.resume({ run: second }), {
    code: 'input.fold_twice',
    message: `Run ${second} is fold 2 of run ${run}, which is queued and trains it when it comes to it.`,
  });
  await manager.stop({ run: ahead });
  const ended = await manager.finished({ run });
  assert.deepEqual([ended.state, ended.result!.doubt], ['completed', undefined]);
  assert.deepEqual(await states(store, run), ['completed', 'completed', 'completed']);
  assert.deepEqual((await foldsOf(store, run)).get(1), first);
  assert.deepEqual((await foldsOf(store, run)).get(3)!.config.settings.fold, { number: 3, of: 3 });
  assert.equal(
    (await store.metrics({ run, series: ['val_loss'] })).length,
    1,
    'one mean, however often it was stopped',
  );
});

test('stopped in the queue it keeps the folds it had; one that may not train now waits and does not fail', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  let measuring = false;
  const refuse = (): void => {
    if (measuring) throw new Error('another process measures this machine');
  };
  const hosts = createTableHosts(slow(1));
  const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner(), refuse });
  context.after(async () => {
    measuring = false;
    await manager.stopAll();
    await store.close();
  });
  const { id: run } = await manager.start({ config: tableConfig(40, { folds: 3 }) });
  await foldIn(store, run, 2, 'running');
  await manager.stop({ run });
  const before = await manager.finished({ run });
  assert.match(before.result!.doubt!, /^1 of 3 folds stands/);

  const { id: ahead } = await manager.start({ config: tableConfig(400) });
  await manager.resume({ run });
  assert.equal((await store.run({ run })).state, 'queued');
  await manager.stop({ run });
  const stopped = await manager.finished({ run });
  assert.equal(stopped.state, 'stopped');
  assert.deepEqual(stopped.result?.folds, before.result!.folds, 'what stands is not lost in the queue');
  await manager.stop({ run: ahead });
  await manager.finished({ run: ahead });

  await manager.resume({ run });
  measuring = true;
  await foldIn(store, run, 2, 'queued');
  measuring = false;
  const ended = await manager.finished({ run });
  assert.deepEqual([ended.state, ended.result!.doubt], ['completed', undefined]);
  assert.equal(hosts.most(), 1, 'folds and others take turns');
});

test('a process killed in the middle: the run goes on with the folds that are not done', async (context) => {
  const home = temporaryHome(context);
  const owner = fork(new URL('./fixtures/training-owner.ts', import.meta.url), [home, '40', '3'], { execArgv: [] });
  const { store, manager } = setUp(context, createTableHosts(), home);
  await until(async () => ((await store.runs({})).total > 0 ? true : undefined), 'no run');
  const first = await foldIn(store, 1, 1, 'completed');
  await until(async () => {
    const second = (await foldsOf(store, 1)).get(2);
    return second?.hasCheckpoint && second.progress!.step > 60 ? true : undefined;
  }, 'fold 2 did not begin');
  const exited = once(owner, 'exit');
  owner.kill('SIGKILL');
  await exited;
  assert.deepEqual(
    (await store.recover()).map(({ state }) => state),
    ['interrupted', 'interrupted'],
  );
  await manager.resume({ run: 1 });
  const { state, result } = await manager.finished({ run: 1 });
  assert.deepEqual([state, result!.doubt], ['completed', undefined]);
  const folds = await foldsOf(store, 1);
  assert.deepEqual([folds.size, folds.get(1)], [3, first]);
  const log = (await store.log({ run: folds.get(2)!.id })).map(({ message }) => message).join(' ');
  assert.match(log, /Resumed from its checkpoint/);
  // The same rows and the same seed in this made-up table: what was killed has come to the same bits.
  const weights = await Promise.all(
    [...folds.values()].map(({ id }) => store.readFile({ run: id, file: 'best.safetensors' })),
  );
  assert.deepEqual(weights[1], weights[2]);
});

test('a fold that fails is named and the others stand; where none stands the run has failed', async (context) => {
  const real = createTableHosts();
  let made = 0;
  const failing = new Set([2]);
  const hosts: RunHosts = {
    async create(device) {
      if (failing.has(++made)) throw new Error('the device is gone');
      return real.create(device);
    },
  };
  const { store, manager } = setUp(context, hosts);
  const config = { ...linearConfig({ dataset: 'made', settings: {}, device: 'auto', threads: 0, seed: 3 }), folds: 3 };
  const { id: run } = await manager.start({ config });
  const { state, result } = await manager.finished({ run });
  assert.equal(state, 'completed');
  assert.match(result!.doubt!, /^2 of 3 folds stand \(fold 2: .+\)\.$/);
  assert.equal(missingFolds(result!.folds!), result!.doubt);
  assert.deepEqual(await states(store, run), ['completed', 'failed', 'completed']);
  assert.ok((await store.log({ run })).some(({ message }) => message.startsWith('Fold 2 does not stand: ')));
  for (const host of [4, 5]) failing.add(host);
  const { id: lost } = await manager.start({ config: { ...config, folds: 2 } });
  const failed = await manager.finished({ run: lost });
  assert.deepEqual([failed.state, failed.error?.code], ['failed', 'run.no_fold']);
  await assert.rejects(manager.goOn({ run, config }), { code: 'input.continue' });
});
