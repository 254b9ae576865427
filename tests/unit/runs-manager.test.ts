// The run manager with a real history and a real trainer: a run's life from its start to each of its ends, taking turns,
// and wishes of other processes.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import { beginningOf } from '../../engine/protocol/beginning.ts';
import { familyWords } from '../../engine/protocol/family.ts';
import type { MetricPoint, RunState } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { orEnded, within } from '../../engine/runs/within.ts';
import type { RunManager, RunManagerOptions } from '../../engine/runs/manager.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, linearConfig, slow, tableConfig } from './fixtures/training.ts';
import type { TableData, TableHosts } from './fixtures/training.ts';

interface Setup {
  readonly home: string;
  readonly store: StoreService;
  readonly data: TableData;
  readonly hosts: TableHosts;
  readonly manager: RunManager;
}

function setUp(context: TestContext, changes: Partial<Setup & RunManagerOptions> = {}): Setup {
  const home = changes.home ?? temporaryHome(context);
  const parts = { store: createStore(home), data: createTableData(), hosts: createTableHosts(), ...changes };
  const manager = createRunManager({ owner: processOwner(), ...parts });
  context.after(async () => {
    await manager.stopAll();
    await parts.store.close();
  });
  return { home, ...parts, manager };
}

/** Resolves when the history shows the run in a state. */
async function reaches(store: StoreService, run: number, state: RunState): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if ((await store.run({ run })).state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`run ${run} is ${(await store.run({ run })).state}, not ${state}`);
}

test('a run that a finding advised is a child that takes nothing over', async (context) => {
  const { manager } = setUp(context);
  const parent = await manager.start({ config: tableConfig(2) });
  await manager.finished({ run: parent.id });
  const child = await manager.start({ config: tableConfig(5), advisedBy: parent.id });
  assert.deepEqual([child.parent, child.relation], [parent.id, 'advised by']);
  assert.equal(familyWords(child), `advised by run ${parent.id}`);
  const { state, result } = await manager.finished({ run: child.id });
  assert.deepEqual([state, result?.epochs], ['completed', 5]);
  await assert.rejects(manager.start({ config: tableConfig(2), advisedBy: 99 }), { code: 'input.unknown_run' });
});

test('a run that a finding advised about one that began with weights begins with them too', async (context) => {
  const { manager, store } = setUp(context);
  const source = await manager.start({ config: tableConfig(2) });
  await manager.finished({ run: source.id });
  const from = { run: source.id, checkpoint: 'last', upTo: 1 } as const;
  const begun = await manager.start({ config: tableConfig(2), from });
  await manager.finished({ run: begun.id });
  const longer = await manager.goOn({ run: begun.id, config: tableConfig(3) });
  await manager.finished({ run: longer.id });
  const child = await manager.start({ config: tableConfig(1), advisedBy: longer.id });
  assert.deepEqual([child.parent, child.relation, child.start], [source.id, 'started from', begun.start]);
  await manager.finished({ run: child.id });
  const log = (await store.log({ run: child.id })).map(({ message }) => message).join('\n');
  assert.match(log, /\(Dense\): taken from run 1\./);
  await store.deleteRuns({ runs: [source.id] });
  assert.notEqual(
    await beginningOf({ ...store, checkpoints: async () => [] }, begun),
    null,
    'those in the trash are there',
  );
  await store.purge({ runs: [source.id] });
  assert.equal(await beginningOf({ ...store, checkpoints: async () => [] }, longer), null);
  await assert.rejects(
    manager.start({ config: tableConfig(1), advisedBy: longer.id }),
    /began with are not there any more/,
  );
  await store.deleteRuns({ runs: [begun.id] });
  await store.purge({ runs: [begun.id] });
  const orphan = await beginningOf({ ...store, checkpoints: async () => [] }, longer);
  assert.equal(orphan, null, 'what it goes on from is gone, and with it what that began with');
});

test('a run is recorded, trained and kept; nothing is held afterwards', async (context) => {
  const { manager, store, data, hosts } = setUp(context);
  const reported: MetricPoint[] = [];
  manager.onReport(({ points }) => reported.push(...points));
  let idle = 0;
  manager.onIdle(() => idle++);

  const started = await manager.start({ config: tableConfig(5) });
  assert.equal(started.state, 'queued');
  assert.equal(started.name, 'small on Made up');
  assert.deepEqual([manager.active(), manager.goingOn()], [[started.id], [started.id]]);
  const record = await manager.finished({ run: started.id });

  assert.equal(record.state, 'completed');
  assert.equal(record.result?.epochs, 5);
  assert.equal(record.result?.reason, 'completed');
  assert.deepEqual([record.device, record.threads], ['cpu', 1]);
  assert.ok(record.parameters > 0);
  assert.ok(record.startedAt! >= record.createdAt && record.endedAt! >= record.startedAt!);
  assert.equal(record.progress?.step, 30);
  const { secondsElapsed, secondsTraining } = record.progress!;
  const startToEnd = (record.endedAt! - record.startedAt!) / 1000;
  assert.ok(Math.abs(secondsElapsed - startToEnd) < 0.05, `${secondsElapsed} s shown of ${startToEnd} s`);
  assert.equal(secondsTraining, record.result?.seconds);
  assert.ok(secondsTraining < secondsElapsed);
  assert.deepEqual(record.data, { counts: { train: 96, validation: 12, test: 12 }, givenSplits: [], leftOut: [] });
  assert.equal(record.last.val_loss, reported.filter(({ series }) => series === 'val_loss').at(-1)?.value);
  assert.deepEqual(await manager.finished({ run: started.id }), record, 'later too');

  const bySeries = (points: readonly MetricPoint[]) =>
    points.toSorted((a, b) => a.series.localeCompare(b.series) || a.step - b.step);
  assert.deepEqual(bySeries(await store.metrics({ run: record.id })), bySeries(reported));
  assert.ok((await store.log({ run: record.id })).some(({ message }) => /Trains on 96 rows/.test(message)));
  for (const file of ['best.safetensors', 'model.json', 'preprocessing.json', 'evaluation.json'] as const) {
    assert.ok(await store.readFile({ run: record.id, file }), file);
  }
  assert.deepEqual([data.held.size, hosts.alive.size, manager.active().length, idle], [0, 0, 0, 1]);
});

test('bad data or a model that does not fit leaves no run behind', async (context) => {
  const { manager, store, data } = setUp(context);
  await assert.rejects(manager.start({ config: tableConfig(1, { dataset: 'gone' }) }), { code: 'input.dataset' });
  const model = { version: 1, layers: [{ type: 'dense', units: 4 }] } as const;
  await assert.rejects(manager.start({ config: tableConfig(1, { model }) }), /last layer has to be Output/);
  assert.equal((await store.runs({})).total, 0);
  assert.equal(data.held.size, 0);
});

test('a time to be done by is refused where it cannot be planned for, and where it has passed', async (context) => {
  const { manager, store } = setUp(context);
  const until = Date.now() + 3_600_000;
  const { id } = await manager.start({ config: tableConfig(2) });
  await manager.finished({ run: id });
  for (const config of [
    tableConfig(2, { until: 5 }),
    tableConfig(2, { until, folds: 3 }),
    { ...linearConfig(tableConfig(2)), until: 5 },
  ])
    await assert.rejects(manager.start({ config }), { code: 'input.deadline' });
  assert.equal((await store.runs({})).total, 1);
});

test('a run whose time passed while it waited fails with what to do, and does that: it starts over without one, or with another', async (context) => {
  const { manager } = setUp(context, { hosts: createTableHosts(slow(2)) });
  const first = await manager.start({ config: tableConfig(1_000) });
  const late = await manager.start({ config: tableConfig(2, { until: Date.now() + 60 }) });
  await new Promise((resolve) => setTimeout(resolve, 60));
  await manager.stop({ run: first.id });
  const { state, error } = await manager.finished({ run: late.id });
  assert.deepEqual([state, error!.code], ['failed', 'input.deadline']);
  assert.match(error!.hint, /Start it over: it trains without a time/);
  await assert.rejects(manager.resume({ run: late.id, until: 5 }), { code: 'input.deadline' });
  const until = Date.now() + 3_600_000;
  assert.equal((await manager.resume({ run: late.id })).config.until, undefined);
  assert.equal((await manager.finished({ run: late.id })).state, 'completed');
  const next = await manager.start({ config: tableConfig(1_000, { until }) });
  await manager.stop({ run: next.id });
  await manager.finished({ run: next.id });
  const again = await manager.resume({ run: next.id, until: until + 1 });
  assert.equal(again.config.until, until + 1);
});

test('runs of one device take turns in order; another device does not wait', async (context) => {
  const { manager, store, hosts, data } = setUp(context, { hosts: createTableHosts(slow(2)) });
  const ids: number[] = [];
  for (const device of ['cpu', 'cpu', 'gpu', 'cpu'] as const) {
    ids.push((await manager.start({ name: ` ${device} `, config: tableConfig(40, { device }) })).id);
  }
  await reaches(store, ids[2], 'running');
  assert.equal((await store.run({ run: ids[1] })).state, 'queued');
  assert.equal(data.held.size, 2, 'a waiting run holds no data');
  const records = await Promise.all(ids.map((run) => manager.finished({ run })));
  assert.deepEqual(
    records.map(({ state }) => state),
    Array(4).fill('completed'),
  );
  assert.deepEqual(
    records.map(({ name }) => name),
    ['cpu', 'cpu', 'gpu', 'cpu'],
  );
  const [first, second, other, third] = records;
  assert.ok(second.startedAt! >= first.endedAt! && third.startedAt! >= second.endedAt!);
  assert.ok(other.startedAt! < first.endedAt!);
  assert.equal(hosts.most(), 2);
});

test('a paused run does nothing until it is continued, and ends as if it had never paused', async (context) => {
  const { manager, store } = setUp(context, { hosts: createTableHosts(slow(2)) });
  const undisturbed = await manager.start({ config: tableConfig(40) });
  const expected = (await manager.finished({ run: undisturbed.id })).result!.metrics;

  const { id: run } = await manager.start({ config: tableConfig(40) });
  await reaches(store, run, 'running');
  await assert.rejects(manager.continue({ run }), { code: 'input.run_state' });
  await manager.pause({ run });
  await reaches(store, run, 'paused');
  await assert.rejects(manager.pause({ run }), { code: 'input.run_state' });
  const { step } = (await store.run({ run })).progress!;
  const pause = 300;
  await new Promise((resolve) => setTimeout(resolve, pause));
  assert.equal((await store.run({ run })).progress!.step, step);
  assert.equal((await store.run({ run })).hasCheckpoint, true);

  await manager.continue({ run });
  const record = await manager.finished({ run });
  assert.equal(record.state, 'completed');
  assert.deepEqual(record.result!.metrics, expected);
  const shown = 1000 * record.progress!.secondsElapsed;
  assert.ok(shown <= record.endedAt! - record.startedAt! - pause, 'the pause is left out');
});

test('a stopped run keeps its checkpoint and result; a paused one stops too', async (context) => {
  const { manager, store, data, hosts } = setUp(context, { hosts: createTableHosts(slow(2)) });
  for (const pauseFirst of [false, true]) {
    const { id: run } = await manager.start({ config: tableConfig(10_000) });
    await reaches(store, run, 'running');
    if (pauseFirst) {
      await manager.pause({ run });
      await reaches(store, run, 'paused');
    }
    await manager.stop({ run });
    const record = await manager.finished({ run });
    assert.deepEqual([record.state, record.result?.reason, record.error], ['stopped', 'stopped', null]);
    assert.equal(record.hasCheckpoint, true);
    await assert.rejects(manager.stop({ run }), { code: 'input.run_state' });
  }
  assert.deepEqual([data.held.size, hosts.alive.size], [0, 0]);
});

test('a run can be stopped while it waits and while its data is prepared', async (context) => {
  let slowly = false;
  const data = createTableData(() => new Promise((resolve) => setTimeout(resolve, slowly ? 150 : 0)));
  const { manager, store } = setUp(context, { data, hosts: createTableHosts(slow(2)) });
  const first = await manager.start({ config: tableConfig(10_000) });
  const second = await manager.start({ config: tableConfig(10_000) });
  const third = await manager.start({ config: tableConfig(10_000) });
  await reaches(store, first.id, 'running');

  await manager.stop({ run: third.id });
  const waited = await manager.finished({ run: third.id });
  assert.deepEqual([waited.state, waited.startedAt, waited.result], ['stopped', null, null]);

  slowly = true;
  await manager.stop({ run: first.id });
  await reaches(store, second.id, 'running');
  await manager.stop({ run: second.id });
  assert.equal((await manager.finished({ run: second.id })).state, 'stopped');
  assert.equal(data.held.size, 0);
});

test('stopped while its data is prepared, a run can be resumed, and so can one that a finding advised', async (context) => {
  let slowly = false;
  const data = createTableData(() => new Promise((resolve) => setTimeout(resolve, slowly ? 150 : 0)));
  const { manager, store } = setUp(context, { data, hosts: createTableHosts(slow(2)) });
  const { id: plain } = await manager.start({ config: tableConfig(2) });
  await manager.finished({ run: plain });
  for (const advisedBy of [undefined, plain]) {
    const { id: before } = await manager.start({ config: tableConfig(10_000) });
    const { id: run } = await manager.start({ config: tableConfig(3), advisedBy });
    slowly = true;
    await manager.stop({ run: before });
    await reaches(store, run, 'running');
    await manager.stop({ run });
    const stopped = await manager.finished({ run });
    assert.deepEqual([stopped.state, stopped.error], ['stopped', null]);
    slowly = false;
    await manager.resume({ run });
    const { state, error, result } = await manager.finished({ run });
    assert.deepEqual([state, error, result?.epochs], ['completed', null, 3]);
  }
  assert.equal(data.held.size, 0);
});

test('another process pauses, continues and stops a run through the history', async (context) => {
  const { manager, store, home } = setUp(context, { hosts: createTableHosts(slow(2)) });
  const elsewhere = setUp(context, { home }).manager;
  const { id: run } = await manager.start({ config: tableConfig(10_000) });
  const { id: waiting } = await manager.start({ config: tableConfig(10_000) });
  await reaches(store, run, 'running');

  await elsewhere.pause({ run });
  await reaches(store, run, 'paused');
  assert.equal((await store.run({ run })).request, null, 'seen');
  await elsewhere.continue({ run });
  await reaches(store, run, 'running');
  await assert.rejects(elsewhere.resume({ run }), { code: 'input.run_state' });
  await assert.rejects(elsewhere.finished({ run }), { code: 'input.run_elsewhere' });
  await assert.rejects(elsewhere.pause({ run: waiting }), { code: 'input.run_state' });
  await elsewhere.stop({ run: waiting });
  assert.equal((await manager.finished({ run: waiting })).state, 'stopped');
  await elsewhere.stop({ run });
  assert.equal((await manager.finished({ run })).state, 'stopped');
  await assert.rejects(elsewhere.stop({ run }), { code: 'input.run_state' });
});

test('a run that diverges keeps its error and is not resumed, and the next one begins', async (context) => {
  const { manager, data, hosts } = setUp(context);
  const training = { ...tableConfig(5).training };
  const optimizer = { ...training.optimizer, name: 'sgd' as const, learningRate: 1e30 };
  const { id: run } = await manager.start({ config: tableConfig(5, { training: { ...training, optimizer } }) });
  const { id: next } = await manager.start({ config: tableConfig(2) });
  const { state, error, result } = await manager.finished({ run });
  assert.deepEqual([state, error?.code, result?.reason], ['diverged', 'run.diverged', 'diverged']);
  assert.match(error!.message, /at step \d+\. No epoch was complete/);
  assert.match(error!.hint, /learning rate/);
  await assert.rejects(manager.resume({ run }), { code: 'input.run_state', hint: /diverge again/ });
  assert.equal((await manager.finished({ run: next })).state, 'completed');
  assert.deepEqual([data.held.size, hosts.alive.size], [0, 0]);
});

test('a host that cannot be made fails its run', async (context) => {
  const hosts = createTableHosts();
  hosts.create = () => Promise.reject(new TrainyardError('device.none', 'There is no GPU.', 'Use the CPU.'));
  const { manager, data } = setUp(context, { hosts });
  const { id: run } = await manager.start({ config: tableConfig(5) });
  assert.deepEqual((await manager.finished({ run })).error, {
    name: 'TrainyardError',
    code: 'device.none',
    message: 'There is no GPU.',
    hint: 'Use the CPU.',
  });
  assert.equal(data.held.size, 0);
});

test('a host that never comes does not block its lane: a stop ends the run, and a late host is ended', async (context) => {
  const hosts = createTableHosts();
  const { create } = hosts;
  let come = (): void => undefined;
  const late = new Promise<void>((resolve) => (come = resolve));
  hosts.create = async (device) => {
    await late;
    return create(device);
  };
  const { manager, store, data } = setUp(context, { hosts });
  const { id: run } = await manager.start({ config: tableConfig(5) });
  const { id: next } = await manager.start({ config: tableConfig(2) });
  await reaches(store, run, 'running');
  await manager.stop({ run });
  assert.equal((await manager.finished({ run })).state, 'stopped');
  come();
  assert.equal((await manager.finished({ run: next })).state, 'completed');
  assert.deepEqual([data.held.size, hosts.alive.size], [0, 0]);
});

test('what does not answer in time is an error that says so', async () => {
  let killed = 0;
  const host = { kill: () => killed++ };
  const slow = new Promise<typeof host>((resolve) => setTimeout(resolve, 30, host));
  const waited = orEnded(slow, (work) => within(work, 5, 'The GPU window'));
  await assert.rejects(waited, { code: 'internal.silent', message: /^The GPU window did not answer within/ });
  await slow;
  assert.equal(killed, 1);
  assert.equal(await orEnded(slow, (work) => within(work, 1000, 'It')), host);
});

test('a host that does not stop is ended', async (context) => {
  let breathe = (): void => undefined;
  const atWork = new Promise<void>((resolve) => (breathe = resolve));
  const stuck = createTableHosts({
    breathe() {
      breathe();
      return new Promise(() => undefined);
    },
  });
  const { manager, store } = setUp(context, { hosts: stuck, stopMilliseconds: 50 });
  const { id: run } = await manager.start({ config: tableConfig(5) });
  await reaches(store, run, 'running');
  await atWork;
  await manager.stop({ run });
  const { state, error } = await manager.finished({ run });
  assert.deepEqual([state, error?.code], ['stopped', 'run.stopped_hard']);
  assert.equal(stuck.alive.size, 0);
});

test('a GPU page that does not answer is ended soon, one that does has its time, and so has a CPU', async (context) => {
  const hosts = createTableHosts(slow(2));
  let answers = false;
  const half: TableHosts = {
    ...hosts,
    async create(device) {
      const created = await hosts.create(device);
      // It goes on whatever it is told.
      const stop = (): Promise<void> => (answers ? Promise.resolve() : new Promise(() => undefined));
      return { ...created, host: { ...created.host, stop } };
    },
  };
  const patience = { stopMilliseconds: 600, answerMilliseconds: 50 };
  const { manager, store } = setUp(context, { hosts: half, ...patience });
  const stopped = async (device: 'cpu' | 'gpu'): Promise<string> => {
    const { id: run } = await manager.start({ config: { ...tableConfig(100_000), device } });
    await reaches(store, run, 'running');
    void manager.stop({ run });
    const { state, error } = await manager.finished({ run });
    assert.deepEqual([state, error?.code], ['stopped', 'run.stopped_hard']);
    return error!.message;
  };
  assert.match(await stopped('gpu'), /within 0\.05 seconds/);
  assert.match(await stopped('cpu'), /within 0\.6 seconds/);
  answers = true;
  assert.match(await stopped('gpu'), /within 0\.6 seconds/);
  for (const one of hosts.alive) one.kill();
});

test('a history that cannot be written any more fails the run', async (context) => {
  const store = createStore(temporaryHome(context));
  let appends = 0;
  const failing: StoreService = {
    ...store,
    append: (request) =>
      ++appends < 4
        ? store.append(request)
        : Promise.reject(new InputError('store.full', 'The disk is full.', 'Free some.')),
  };
  const { manager, hosts } = setUp(context, { store: failing, hosts: createTableHosts(slow(2)) });
  const { id: run } = await manager.start({ config: tableConfig(10_000) });
  const { state, error } = await manager.finished({ run });
  assert.deepEqual([state, error?.code], ['failed', 'store.full']);
  assert.equal(hosts.alive.size, 0);
});

for (const code of ['store.io', 'store.busy', 'store.full'] as const) {
  test(`the end of a run is kept though the history fails for a moment (${code})`, async (context) => {
    const store = createStore(temporaryHome(context));
    let failures = 0;
    const failing: StoreService = {
      ...store,
      updateRun: (request) =>
        request.patch.endedAt !== undefined && failures++ < 2
          ? Promise.reject(new TrainyardError(code, 'Not now.'))
          : store.updateRun(request),
    };
    const { manager } = setUp(context, { store: failing });
    const { id: run } = await manager.start({ config: tableConfig(2) });
    assert.equal((await manager.finished({ run })).state, 'completed');
    assert.deepEqual([(await store.run({ run })).state, failures], ['completed', 3]);
  });
}

test('no checkpoint is handed over before the history has kept the last', async (context) => {
  const real = createStore(temporaryHome(context));
  let kept = 0;
  const store: StoreService = {
    ...real,
    async writeFile(request) {
      if (request.file === 'checkpoint.bin') await new Promise((resolve) => setTimeout(resolve, 100));
      await real.writeFile(request);
      if (request.file === 'checkpoint.bin') kept++;
    },
  };
  const hosts = createTableHosts(slow(4));
  const { create } = hosts;
  let handedOver = 0;
  let most = 0;
  hosts.create = async (device) => {
    const created = await create(device);
    created.host.onFile(({ file }) => {
      if (file === 'checkpoint.bin') most = Math.max(most, ++handedOver - kept);
    });
    return created;
  };
  const { manager } = setUp(context, { store, hosts });
  const { id: run } = await manager.start({ config: tableConfig(200) });
  assert.equal((await manager.finished({ run })).state, 'completed');
  assert.ok(handedOver >= 2, `${handedOver} checkpoints`);
  assert.equal(most, 1);
});

test('a run that takes its time to stop can be ended at once, with its best weights so far', async (context) => {
  let stuck = false;
  const breathe = () => new Promise<void>((resolve) => !stuck && setTimeout(resolve, 1));
  const { manager, store } = setUp(context, { hosts: createTableHosts({ breathe }) });
  const measured = new Promise<void>((resolve) =>
    manager.onReport(({ points }) => points.some(({ series }) => series === 'val_loss') && resolve()),
  );
  const { id: run } = await manager.start({ config: tableConfig(100_000) });
  await measured;
  stuck = true;
  await manager.stop({ run });
  await manager.stop({ run });
  assert.deepEqual(manager.active(), [run], 'asking twice changes nothing');
  assert.deepEqual(manager.goingOn(), [], 'and it is on its way to its end');
  await manager.stop({ run, now: true });
  const { state, result, error } = await manager.finished({ run });
  assert.deepEqual([state, result, error?.code], ['stopped', null, 'run.stopped_at_once']);
  for (const file of ['best.safetensors', 'model.json', 'preprocessing.json'] as const) {
    assert.ok(await store.readFile({ run, file }), file);
  }
});

test('stopping all runs waits for the last', async (context) => {
  const { manager, store } = setUp(context, { hosts: createTableHosts(slow(2)) });
  for (let index = 0; index < 3; index++) await manager.start({ config: tableConfig(10_000) });
  await reaches(store, 1, 'running');
  await manager.stopAll();
  assert.deepEqual(manager.active(), []);
  const { runs } = await store.runs({});
  assert.deepEqual(
    runs.map(({ state }) => state),
    ['stopped', 'stopped', 'stopped'],
  );
});

test('whoever holds the machine has it alone: what trains pauses, what waits waits, and both go on by themselves', async (context) => {
  const { manager, store } = setUp(context, { hosts: createTableHosts(slow(2)) });
  const first = await manager.start({ config: tableConfig(1000) });
  await reaches(store, first.id, 'running');
  const release = await manager.hold();
  await reaches(store, first.id, 'paused');
  const second = await manager.start({ config: tableConfig(2) });
  await manager.stop({ run: first.id });
  await manager.finished({ run: first.id });
  assert.equal((await store.run({ run: second.id })).state, 'queued', 'the lane is free, the machine is not');
  const third = await manager.start({ config: tableConfig(1000) });
  await release();
  assert.equal((await manager.finished({ run: second.id })).state, 'completed');
  await reaches(store, third.id, 'running');
  const again = await manager.hold();
  await reaches(store, third.id, 'paused');
  await again();
  await reaches(store, third.id, 'running');
});

test('while another process measures, nothing is started or goes on, and what waits goes on waiting', async (context) => {
  let measured = false;
  const refuse = (): void => {
    if (measured) throw new InputError('input.measuring', 'Another process measures.', 'Wait.');
  };
  const { manager, store } = setUp(context, { hosts: createTableHosts(slow(2)), refuse });
  const first = await manager.start({ config: tableConfig(1000) });
  const second = await manager.start({ config: tableConfig(2) });
  await reaches(store, first.id, 'running');
  measured = true;
  await assert.rejects(manager.start({ config: tableConfig(2) }), { code: 'input.measuring' });
  await manager.stop({ run: first.id });
  await manager.finished({ run: first.id });
  await assert.rejects(manager.resume({ run: first.id }), { code: 'input.measuring' });
  assert.equal((await store.run({ run: second.id })).state, 'queued', 'the lane is free, the machine is not');
  measured = false;
  assert.equal((await manager.finished({ run: second.id })).state, 'completed');
  assert.equal((await store.runs({})).runs.length, 2);
});
