// A run that lost its host or its whole process goes on from its checkpoint to the same curve as one that was never
// disturbed; a run without a checkpoint starts anew.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import type { MetricPoint, RunConfig } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { RunHosts } from '../../engine/runs/hosts.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, linearConfig, slow, tableConfig } from './fixtures/training.ts';

const epochs = 60;
const hostEntry = new URL('./fixtures/training-host.ts', import.meta.url);
const ownerEntry = new URL('./fixtures/training-owner.ts', import.meta.url);

function setUp(context: TestContext, home: string, hosts: RunHosts): { store: StoreService; manager: RunManager } {
  const store = createStore(home);
  const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner() });
  context.after(async () => {
    await manager.stopAll();
    await store.close();
  });
  return { store, manager };
}

/** Hosts in processes of their own; the last one made can be killed. */
function createProcessHosts(): RunHosts & { readonly last: () => ChildProcess } {
  let last: ChildProcess;
  return {
    last: () => last,
    async create() {
      const child = fork(hostEntry, { serialization: 'advanced', execArgv: [] });
      last = child;
      return {
        host: connect<TrainerHost>(processPort(child)),
        exited: once(child, 'exit').then(([code, signal]) => `it ended with ${signal ?? code}`),
        kill: () => child.kill('SIGKILL'),
      };
    },
  };
}

/** What decides whether two curves are the same: everything but the clock, in the order of steps. */
function curvesOf(points: readonly MetricPoint[]): readonly string[] {
  return points.map(({ series, step, epoch, value }) => `${series} ${step} ${epoch} ${value}`);
}

/** The curves and the weights of a run that nothing disturbed, and that a disturbed one has to arrive at. */
async function undisturbed(context: TestContext): Promise<{ curves: readonly string[]; weights: Uint8Array }> {
  const { store, manager } = setUp(context, temporaryHome(context), createTableHosts());
  const { id: run } = await manager.start({ config: tableConfig(epochs) });
  await manager.finished({ run });
  const weights = await store.readFile({ run, file: 'best.safetensors' });
  return { curves: curvesOf(await store.metrics({ run })), weights: weights! };
}

async function checkSameAsUndisturbed(context: TestContext, store: StoreService, run: number): Promise<void> {
  const expected = await undisturbed(context);
  const curves = curvesOf(await store.metrics({ run }));
  const missing = expected.curves.filter((point) => !curves.includes(point));
  const wrong = curves.filter((point) => !expected.curves.includes(point));
  assert.deepEqual({ missing, wrong }, { missing: [], wrong: [] });
  assert.deepEqual(curves, expected.curves, 'in order, and no point twice');
  assert.deepEqual(await store.readFile({ run, file: 'best.safetensors' }), expected.weights);
}

/** Waits until a run has got so far, with a checkpoint. */
async function trainedTo(store: StoreService, run: number, step: number): Promise<void> {
  for (;;) {
    const { progress, hasCheckpoint, state, error } = await store.run({ run });
    assert.ok(state === 'queued' || state === 'running', `${state} ${error?.message}`);
    if (hasCheckpoint && progress && progress.step >= step) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a run whose host is killed fails with the reason, and resumes to the same curve', async (context) => {
  const hosts = createProcessHosts();
  const { store, manager } = setUp(context, temporaryHome(context), hosts);
  const { id: run } = await manager.start({ config: tableConfig(epochs) });
  let trainedBefore = 0;
  for (const step of [60, 150]) {
    await trainedTo(store, run, step);
    hosts.last().kill('SIGKILL');
    const failed = await manager.finished({ run });
    assert.deepEqual([failed.state, failed.error?.code], ['failed', 'run.host_ended']);
    assert.match(failed.error!.message, /is gone: it ended with SIGKILL\./);
    const { bill } = failed.progress!;
    assert.ok(bill!.phases.training! >= trainedBefore, 'lost work costs too');
    trainedBefore = bill!.phases.training!;
    const resumed = await manager.resume({ run });
    assert.deepEqual([resumed.id, resumed.state, resumed.error, resumed.endedAt], [run, 'queued', null, null]);
  }
  const record = await manager.finished({ run });
  assert.equal(record.state, 'completed');
  assert.equal(record.progress?.step, epochs * 6);
  const { phases, cpuSeconds, peakBytes } = record.progress!.bill!;
  assert.ok(phases.training! > trainedBefore && phases.training! > record.result!.seconds);
  assert.ok(cpuSeconds > 0 && peakBytes! > 0);
  await checkSameAsUndisturbed(context, store, run);
});

test('a run that goes on as another, killed twice, comes to the curve of one that never stopped', async (context) => {
  const hosts = createProcessHosts();
  const { store, manager } = setUp(context, temporaryHome(context), hosts);
  const whole = tableConfig(epochs);
  // What it was planned for decides the cosine of the whole.
  const config: NetworkConfig = {
    ...whole,
    training: { ...whole.training, epochs: 20, schedule: { ...whole.training.schedule, overEpochs: epochs } },
  };
  const { id: parent } = await manager.start({ config, name: 'parent' });
  await manager.finished({ run: parent });
  const { id: run, ...child } = await manager.goOn({ run: parent, config: whole });
  assert.deepEqual([child.name, child.parent, child.relation], ['parent +40', parent, 'continued']);
  assert.deepEqual([child.start?.epoch, child.start?.step], [20, 120]);
  // Before it has a checkpoint of its own, and later.
  for (const step of [0, 200]) {
    await (step === 0 ? hostOf(hosts, store, run) : trainedTo(store, run, step));
    hosts.last().kill('SIGKILL');
    assert.equal((await manager.finished({ run })).state, 'failed');
    await manager.resume({ run });
  }
  const { state, progress, result } = await manager.finished({ run });
  assert.deepEqual([state, progress?.step, result?.epochs], ['completed', epochs * 6, epochs]);
  assert.equal(await store.readFile({ run, file: 'start.bin' }), null, 'needed no more');
  await checkSameAsUndisturbed(context, store, run);

  const refused = (changes: Partial<RunConfig>, message: RegExp) =>
    assert.rejects(manager.goOn({ run, config: { ...whole, ...changes } }), message);
  await refused({}, /has done 60 epochs: there is nothing to do up to 60/);
  await refused({ seed: 9 }, /goes on with the rows, the splits and the seed it has/);
  await refused({ settings: { target: 'other' } }, /goes on with the rows/);
  const many = { ...whole, training: { ...whole.training, epochs: 9999 } };
  await manager.goOn({ run, config: many });
  const busy = (await store.runs({})).runs[0];
  await assert.rejects(manager.goOn({ run: busy.id, config: many }), /is (queued|running)/);
});

/** Waits until a run trains. */
async function hostOf(hosts: { readonly last: () => ChildProcess | undefined }, store: StoreService, run: number) {
  while ((await store.run({ run })).parameters === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(hosts.last());
}

test('a run that diverged goes on from its best weights, with a lower rate', async (context) => {
  const { store, manager } = setUp(context, temporaryHome(context), createTableHosts());
  const config = tableConfig(4);
  const { id: run } = await manager.start({ config });
  const { result } = await manager.finished({ run });
  const best = result!.bestEpoch;
  await store.updateRun({ run, patch: { state: 'diverged' } });
  const optimizer = { ...config.training.optimizer, learningRate: 1e-4 };
  const lower: NetworkConfig = { ...config, training: { ...config.training, epochs: best + 3, optimizer } };
  const child = await manager.finished({ run: (await manager.goOn({ run, config: lower })).id });
  assert.deepEqual([child.state, child.start?.epoch, child.start?.anew], ['completed', best, true]);
  const log = (await store.log({ run: child.id })).map(({ message }) => message).join(' ');
  assert.match(log, new RegExp(`Goes on where run ${run} was after ${best} epochs?, step ${6 * best}\\.`));
  assert.deepEqual(
    (await store.metrics({ run: child.id, series: ['val_loss'] })).map(({ epoch }) => epoch),
    Array.from({ length: best + 3 }, (_, i) => i + 1),
  );
});

test('a linear model has nothing to go on with', async (context) => {
  const { manager } = setUp(context, temporaryHome(context), createTableHosts());
  const config = linearConfig({ dataset: 'made', settings: {}, device: 'auto', threads: 0, seed: 3 });
  const { id: run } = await manager.start({ config });
  await manager.finished({ run });
  await assert.rejects(manager.goOn({ run, config }), /Linear model: it is solved to its end/);
});

test('a linear model whose host is killed, and that is stopped then, comes to the same weights', async (context) => {
  const config = linearConfig({ dataset: 'made', settings: {}, device: 'auto', threads: 0, seed: 3 });
  const calm = setUp(context, temporaryHome(context), createTableHosts());
  const { id: whole } = await calm.manager.start({ config });
  assert.equal((await calm.manager.finished({ run: whole })).device, 'cpu');

  const hosts = createProcessHosts();
  const { store, manager } = setUp(context, temporaryHome(context), hosts);
  const { id: run } = await manager.start({ config });
  await trainedTo(store, run, 1);
  hosts.last().kill('SIGKILL');
  assert.equal((await manager.finished({ run })).state, 'failed');
  await manager.resume({ run });
  await trainedTo(store, run, 2);
  await manager.stop({ run });
  const stopped = await manager.finished({ run });
  assert.deepEqual([stopped.state, stopped.result?.reason], ['stopped', 'stopped']);
  await manager.resume({ run });
  const { state, result, best } = await manager.finished({ run });
  assert.equal(state, 'completed');
  const expected = await calm.store.run({ run: whole });
  assert.deepEqual(result?.metrics, expected.result?.metrics);
  assert.deepEqual(best.val_accuracy.value, result?.metrics.val_accuracy);
  const weights = { file: 'best.safetensors' } as const;
  assert.deepEqual(await store.readFile({ run, ...weights }), await calm.store.readFile({ run: whole, ...weights }));
  await assert.rejects(manager.start({ config: { ...config, device: 'gpu' } }), { code: 'input.device' });
});

test('a run whose process is killed shows as interrupted, and resumes to the same curve', async (context) => {
  const home = temporaryHome(context);
  const owner = fork(ownerEntry, [home, String(epochs)], { execArgv: [] });
  await once(owner, 'message');
  const { store, manager } = setUp(context, home, createTableHosts());
  await trainedTo(store, 1, 100);
  await assert.rejects(manager.resume({ run: 1 }), { code: 'input.run_state' }, 'it is alive');
  const exited = once(owner, 'exit');
  owner.kill('SIGKILL');
  await exited;

  assert.deepEqual(
    (await store.recover()).map(({ id, state }) => [id, state]),
    [[1, 'interrupted']],
  );
  await manager.resume({ run: 1 });
  assert.equal((await manager.finished({ run: 1 })).state, 'completed');
  await checkSameAsUndisturbed(context, store, 1);
});

test('a stopped run goes on to the same curve; a completed one and one in the trash do not go on', async (context) => {
  const { store, manager } = setUp(
    context,
    temporaryHome(context),
    createTableHosts({ breathe: () => new Promise((resolve) => setTimeout(resolve, 4)) }),
  );
  const { id: run } = await manager.start({ config: tableConfig(epochs) });
  await new Promise<void>((resolve) => manager.onReport(() => resolve()));
  await manager.stop({ run });
  assert.equal((await manager.finished({ run })).state, 'stopped');

  await store.deleteRuns({ runs: [run] });
  await assert.rejects(manager.resume({ run }), { code: 'input.run_deleted' });
  await store.restoreRuns({ runs: [run] });
  await manager.resume({ run });
  await assert.rejects(manager.resume({ run }), { code: 'input.run_state' });
  assert.equal((await manager.finished({ run })).state, 'completed');
  await checkSameAsUndisturbed(context, store, run);
  await assert.rejects(manager.resume({ run }), { code: 'input.run_state', hint: /new run/ });
});

test('a run on several devices goes on with them, and on one where that is named', async (context) => {
  const { store, manager } = setUp(context, temporaryHome(context), createTableHosts(slow(1)));
  const { id: run } = await manager.start({ config: { ...tableConfig(1_000), devices: 'cpu:2' } });
  const devices = [];
  for (const device of [undefined, undefined, 'cpu'] as const) {
    if (devices.length > 0) await manager.resume({ run, device });
    await manager.stop({ run });
    await manager.finished({ run });
    devices.push((await store.run({ run })).config.devices);
  }
  assert.deepEqual(devices, ['cpu:2', 'cpu:2', undefined]);
});

test('without a checkpoint a run starts anew, and its old points are gone', async (context) => {
  const { store, manager } = setUp(context, temporaryHome(context), createTableHosts());
  const { id: run } = await store.createRun({
    name: 'lost',
    dataset: 'made',
    datasetName: 'Made up',
    config: tableConfig(epochs),
    owner: { pid: 2 ** 22 + 1, startedAt: 0 },
  });
  await store.updateRun({ run, patch: { state: 'running', startedAt: 1 } });
  await store.append({ run, points: [{ series: 'old', step: 3, epoch: 1, seconds: 1, value: 1 }] });
  await manager.resume({ run });
  const record = await manager.finished({ run });
  assert.deepEqual([record.state, record.startedAt, record.last.old], ['completed', 1, undefined]);
  await checkSameAsUndisturbed(context, store, run);
});

test('queued runs outlive their process: the next one trains them in order, or stops one that is not wanted', async (context) => {
  const { store, manager } = setUp(context, temporaryHome(context), createTableHosts());
  const owner = { pid: 2 ** 22 + 1, startedAt: 0 };
  const lost = { dataset: 'made', datasetName: 'Made up', config: tableConfig(3), owner };
  for (const name of ['first', 'second', 'unwanted']) await store.createRun({ ...lost, name });
  await store.recover();
  assert.deepEqual(
    (await store.runs({})).runs.map(({ state }) => state),
    ['queued', 'queued', 'queued'],
  );
  await manager.stop({ run: 3 });
  assert.equal((await manager.finished({ run: 3 })).state, 'stopped');

  assert.deepEqual(await manager.adopt(), [1, 2]);
  const [first, second] = await Promise.all([1, 2].map((run) => manager.finished({ run })));
  assert.deepEqual([first.state, second.state], ['completed', 'completed']);
  assert.ok(second.startedAt! >= first.endedAt!);
  assert.deepEqual(await manager.adopt(), []);
});

test('the log tells of data, device, epochs, checkpoints, the end of a host, the resume and the time spent', async (context) => {
  const hosts = createProcessHosts();
  const { store, manager } = setUp(context, temporaryHome(context), hosts);
  const { id: run } = await manager.start({ config: tableConfig(epochs, { device: 'auto', threads: 1 }) });
  await trainedTo(store, run, 60);
  hosts.last().kill('SIGKILL');
  await manager.finished({ run });
  await manager.resume({ run });
  await manager.finished({ run });

  const log = await store.log({ run });
  const expected: readonly (readonly [level: string, message: RegExp])[] = [
    ['info', /^The data was prepared in (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min)\.$/],
    ['info', /^There is no GPU to choose: trains on the CPU\.$/],
    ['info', /^Trains on 96 rows, validates on 12, 6 steps an epoch\.$/],
    ['info', /^The model and the rows were ready after (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min)\.$/],
    ['info', /^Trains on the CPU with one thread, as set: .+\.$/],
    ['info', /^Epoch 1 of 60: loss [\d.]+, validation loss [\d.]+, validation accuracy [\d.]+ \(best so far\)\.$/],
    ['error', /^The process that trained this run is gone: it ended with SIGKILL\.$/],
    ['info', /^Resumed from its checkpoint\.$/],
    ['info', /^Continues after epoch \d+, step \d+\.$/],
    ['info', /^Epoch 60 of 60: /],
    [
      'info',
      /^Time: preparing (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min), reading rows (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min), training (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min), validation (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min), scoring (?:[\d.]+ s|\d+ min \d+ s|\d+ h \d+ min)/,
    ],
    ['info', /^Completed after 60 epochs; the weights of epoch \d+ are kept\.$/],
  ];
  let from = 0;
  for (const [level, message] of expected) {
    const at = log.findIndex((line, index) => index >= from && line.level === level && message.test(line.message));
    assert.ok(at >= 0, `${message} in its place in\n${log.map((line) => line.message).join('\n')}`);
    from = at + 1;
  }
  // When they are written follows from what they cost here.
  const checkpoint = /^Checkpoint at step \d+, after \d+ epochs?: [\d.]+ [kM]B\.$/;
  assert.ok(log.some(({ level, message }) => level === 'info' && checkpoint.test(message)));
});
