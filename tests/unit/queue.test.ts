// The queue with a real history and a real trainer: its order, what holds a run back, and that it outlives whoever works it off.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { queueWish } from '../../electron/cli/queue-options.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { holdOf, inTurn, placeOf, placeWithin, positionAt, type Waiting } from '../../engine/protocol/queue.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { createRunManager, type RunManager } from '../../engine/runs/manager.ts';
import {
  changeQueue,
  isQueuePaused,
  moveInQueue,
  pauseQueue,
  queueCut,
  readQueue,
  waitingRuns,
} from '../../engine/runs/queue.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, slow, tableConfig, type TableData } from './fixtures/training.ts';

interface Setup {
  readonly store: StoreService;
  readonly manager: RunManager;
  readonly data: TableData;
  /** Another process's manager on the same history. */
  another(): RunManager;
}

function setUp(context: TestContext, pace?: Parameters<typeof createTableHosts>[0]): Setup {
  const store = createStore(temporaryHome(context));
  const made: RunManager[] = [];
  const data = createTableData();
  const another = (): RunManager => {
    const parts = { store, data, hosts: createTableHosts(pace), owner: processOwner() };
    made.push(createRunManager({ ...parts, worksOffQueue: true }));
    return made.at(-1)!;
  };
  context.after(async () => {
    for (const manager of made) await manager.stopAll();
    await store.close();
  });
  return { store, data, manager: another(), another };
}

const order = async (store: StoreService): Promise<readonly number[]> => (await waitingRuns(store)).map(({ id }) => id);
const startedAt = async (store: StoreService, run: number): Promise<number> => (await store.run({ run })).startedAt!;

/** Puts so many runs into the queue without training them. */
async function queueOnly(manager: RunManager, count: number): Promise<readonly number[]> {
  const runs: number[] = [];
  for (let i = 0; i < count; i++)
    runs.push((await manager.start({ config: tableConfig(2), queue: { only: true } })).id);
  return runs;
}

async function until(reached: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if (await reached()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(what);
}

test('the place of a run in an order, among those of it that still wait', () => {
  const order = [1, 2, 3, 4];
  assert.equal(placeWithin(order, 3, [1, 2, 4]), 2);
  assert.equal(placeWithin(order, 3, [2, 4]), 1, 'the first has begun');
  assert.equal(placeWithin(order, 3, [4]), 0, 'all before it have begun');
  assert.equal(placeWithin(order, 3, [9, 4, 8]), 1, 'others came before and behind');
  assert.equal(placeWithin(order, 1, [8, 2, 3, 4]), 1, 'the first, behind one that was put first since');
  assert.equal(placeWithin(order, 3, [4, 2]), 2, 'others were moved since');
  assert.equal(placeWithin(order, 3, [8, 9]), 2, 'none of it waits any more');
});

test('any sequence of moves leaves the order that a list would have, and runs made later stand behind it', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  let list = [1, 2, 3, 4, 5, 6].map((id): Waiting => ({ id, queue: null }));
  let renumbered = 0;
  for (let move = 0; move < 3_000; move++) {
    const [moved] = list.splice(random(list.length), 1);
    // Mostly to one place, where the digits run out.
    const to = random(4) > 0 ? 2 : random(list.length + 1);
    const position = positionAt(list, to);
    if (position === null) {
      renumbered++;
      list = [...list.slice(0, to), moved, ...list.slice(to)].map(({ id }, at) => ({ id, queue: { position: at } }));
      continue;
    }
    list.splice(to, 0, { id: moved.id, queue: { position } });
    assert.deepEqual(inTurn(list), list, `move ${move}`);
    assert.ok(
      list.every((run) => placeOf(run).position < 7),
      `move ${move}: run 7 would not be the last`,
    );
  }
  assert.ok(renumbered > 0, 'no gap ever closed');
});

test('a run is held back by a pause, by another run and by a time', () => {
  const free = { paused: false, open: new Set<number>() };
  assert.equal(holdOf({ position: 1 }, free, 0), null);
  assert.deepEqual(holdOf({ position: 1 }, { ...free, paused: true }, 0), { kind: 'paused' });
  assert.deepEqual(holdOf({ position: 1, after: 4 }, { ...free, open: new Set([4]) }, 0), { kind: 'after', run: 4 });
  assert.equal(holdOf({ position: 1, after: 4 }, free, 0), null);
  assert.deepEqual(holdOf({ position: 1, notBefore: 5 }, free, 4), { kind: 'time', until: 5 });
  assert.equal(holdOf({ position: 1, notBefore: 5 }, free, 5), null);
});

test('runs that are only queued wait for whoever adopts them, and begin in the order they were moved to', async (context) => {
  const { store, manager, another } = setUp(context);
  const [first, second, third] = await queueOnly(manager, 3);
  assert.deepEqual(manager.active(), []);
  await moveInQueue(store, third, 0);
  await moveInQueue(store, first, 5);
  assert.deepEqual(await order(store), [third, second, first]);
  const worker = another();
  assert.equal((await worker.adopt()).length, 3);
  for (const run of [first, second, third]) {
    assert.equal((await worker.finished({ run })).state, 'completed');
  }
  const times = await Promise.all([third, second, first].map((run) => startedAt(store, run)));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  await assert.rejects(moveInQueue(store, first, 0), { code: 'input.queue' });
});

test('what a run is going to take stands in its row from the first on, for whoever takes it over at once', async (context) => {
  const { store, data } = setUp(context);
  let changes = 0;
  const counted: StoreService = { ...store, updateRun: (request) => (changes++, store.updateRun(request)) };
  const parts = { store: counted, data, hosts: createTableHosts(), owner: processOwner() };
  const { id, queue } = await createRunManager(parts).start({ config: tableConfig(2), queue: { only: true } });
  assert.deepEqual([changes, queue!.position], [0, id]);
  assert.ok(queue!.bytes! > 90e6, `${queue!.bytes} bytes`);
});

test('priorities stand before places: what is moved among others takes theirs, and no more of it than it must', async (context) => {
  const { store, manager } = setUp(context);
  const [one, two, three, four] = await queueOnly(manager, 4);
  await changeQueue(store, { run: four, priority: 'high' });
  await changeQueue(store, { run: one, priority: 'low' });
  assert.deepEqual(await order(store), [four, two, three, one]);
  const { id: high } = await manager.start({ config: tableConfig(2), queue: { only: true, priority: 'high' } });
  const { id: low } = await manager.start({ config: tableConfig(2), queue: { only: true, priority: 'low' } });
  assert.deepEqual(await order(store), [four, high, two, three, one, low]);
  const priority = async (run: number): Promise<string | undefined> => (await store.run({ run })).queue?.priority;
  await moveInQueue(store, three, 0);
  assert.deepEqual([await order(store), await priority(three)], [[three, four, high, two, one, low], 'high']);
  await moveInQueue(store, three, 2);
  assert.equal(await priority(three), 'high', 'between a high one and a normal one it stays what it is');
  await moveInQueue(store, low, 3);
  assert.deepEqual([await order(store), await priority(low)], [[four, high, three, low, two, one], undefined]);
  await changeQueue(store, { run: three, priority: 'normal', notBefore: 5 });
  assert.deepEqual(await order(store), [four, high, low, two, three, one]);
  const { id: first } = await manager.start({ config: tableConfig(2), queue: { only: true, first: true } });
  assert.equal((await order(store))[0], first);
});

test('an order changed while a run trains counts for the next one', async (context) => {
  const { store, manager } = setUp(context, slow(1));
  const { id: training } = await manager.start({ config: tableConfig(2_000) });
  await until(() => manager.begun().includes(training), 'it never began');
  const waiting = [];
  for (let i = 0; i < 3; i++) waiting.push((await manager.start({ config: tableConfig(2) })).id);
  await moveInQueue(store, waiting[2], 0);
  await manager.stop({ run: training });
  await Promise.all(waiting.map((run) => manager.finished({ run })));
  assert.ok((await startedAt(store, waiting[2])) <= (await startedAt(store, waiting[0])));
  assert.ok((await startedAt(store, waiting[0])) <= (await startedAt(store, waiting[1])));
});

test('a run that is to be done by a time does not wait until then', async (context) => {
  const { store, manager } = setUp(context);
  const until = Date.now() + 3_600_000;
  const start = (notBefore: number) =>
    manager.start({ config: tableConfig(2, { until }), queue: { only: true, notBefore } });
  await assert.rejects(start(until), { code: 'input.deadline' });
  const { id: run } = await start(until - 1);
  await assert.rejects(changeQueue(store, { run, notBefore: until + 1 }), { code: 'input.deadline' });
  await changeQueue(store, { run, notBefore: null });
  assert.deepEqual(await order(store), [run]);
});

test('nothing begins in a paused queue, and it goes on where it was', async (context) => {
  const { store, manager, data } = setUp(context);
  await pauseQueue(store, true);
  const { id } = await manager.start({ config: tableConfig(2) });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual([manager.begun(), (await store.run({ run: id })).state], [[], 'queued']);
  assert.equal(data.held.size, 0, 'what waits holds no prepared data');
  await pauseQueue(store, false);
  assert.equal((await manager.finished({ run: id })).state, 'completed');
});

test('a run that waits for another begins when that has ended, however it did', async (context) => {
  const { store, manager } = setUp(context, slow(1));
  const { id: awaited } = await manager.start({ config: tableConfig(2_000) });
  const { id: later } = await manager.start({ config: tableConfig(2), queue: { after: awaited, first: true } });
  const { id: free } = await manager.start({ config: { ...tableConfig(2), device: 'cpu' } });
  await manager.stop({ run: awaited });
  await manager.finished({ run: later });
  await manager.finished({ run: free });
  assert.ok((await startedAt(store, later)) >= (await store.run({ run: awaited })).endedAt!);
  await assert.rejects(manager.start({ config: tableConfig(2), queue: { after: awaited } }), { code: 'input.queue' });
  await assert.rejects(manager.start({ config: tableConfig(2), queue: { after: 99 } }), { code: 'input.unknown_run' });
});

test('a program that ends leaves the queue as it is: what trained stands first and goes on from where it was', async (context) => {
  const { store, manager, another } = setUp(context, slow(1));
  const { id: training } = await manager.start({ config: tableConfig(2_000) });
  const { id: waiting } = await manager.start({ config: tableConfig(2) });
  await until(async () => (await store.run({ run: training })).progress !== null, 'it never trained');
  await manager.stopAll({ queue: true });
  assert.deepEqual(await order(store), [training, waiting]);
  const { step } = (await store.run({ run: training })).progress!;
  const next = another();
  assert.deepEqual(await next.adopt(), [training, waiting]);
  await until(() => next.begun().includes(training), 'it never went on');
  const reached = async (): Promise<number> => (await store.run({ run: training })).progress?.step ?? 0;
  await until(async () => (await reached()) >= step, 'it began anew');
  assert.ok((await store.log({ run: training })).some(({ message }) => /step|epoch/i.test(message)));
});

test('while a program ends it takes nothing over again, however it hears of what it lets go', async (context) => {
  const { store, manager } = setUp(context, slow(1));
  const { id: training } = await manager.start({ config: tableConfig(2_000) });
  const { id: waiting } = await manager.start({ config: tableConfig(2) });
  await until(async () => (await store.run({ run: training })).hasCheckpoint, 'it has a checkpoint');
  // As the app does, for what the command line puts into the queue.
  const adopted: (readonly number[])[] = [];
  store.onChanged(() => void manager.adopt().then((runs) => adopted.push(runs)));
  await manager.stopAll({ queue: true });
  await until(() => adopted.length > 0, 'it hears of the changes');
  assert.deepEqual([adopted.flat(), manager.active()], [[], []]);
  assert.deepEqual([await order(store), (await store.run({ run: training })).state], [[training, waiting], 'queued']);
});

/** The process that trained a run is gone. */
async function lose(store: StoreService, run: number): Promise<void> {
  await store.updateRun({ run, patch: { state: 'running', owner: { pid: 2 ** 30, startedAt: 1 } } });
  assert.deepEqual(
    (await store.recover()).map(({ id, state }) => [id, state]),
    [[run, 'interrupted']],
  );
}

const taken = async (store: StoreService, run: number): Promise<boolean> =>
  (await store.run({ run })).queue?.taken ?? false;

test('whoever works the queue off marks what begins, and takes the mark away while a person has paused it', async (context) => {
  const { store, manager, data } = setUp(context, slow(1));
  const { id } = await manager.start({ config: tableConfig(5_000), queue: { priority: 'high' } });
  const { id: folds } = await manager.start({ config: tableConfig(5_000, { folds: 2 }), queue: { priority: 'low' } });
  for (const run of [id, folds]) {
    const becomes = (wanted: string): Promise<void> =>
      until(async () => (await store.run({ run })).state === wanted, `run ${run} is never ${wanted}`);
    await becomes('running');
    assert.equal(await taken(store, run), true);
    await manager.pause({ run });
    await becomes('paused');
    assert.equal(await taken(store, run), false);
    await manager.continue({ run });
    await becomes('running');
    assert.equal(await taken(store, run), true);
    const release = await manager.hold();
    await becomes('paused');
    assert.equal(await taken(store, run), true, 'held by no person');
    await release();
    await becomes('running');
    await manager.stop({ run });
    await manager.finished({ run });
  }
  assert.equal((await store.run({ run: id })).queue?.priority, 'high');

  // Somebody sits before what is trained by itself.
  const alone = createRunManager({ store, data, hosts: createTableHosts(), owner: processOwner() });
  await alone.resume({ run: id });
  await until(async () => (await store.run({ run: id })).state === 'running', 'it goes on');
  assert.equal(await taken(store, id), false);
  await alone.stopAll();
});

test('a run that was cut short with the process that had taken it waits again, first, until it comes no farther', async (context) => {
  const { store, manager, another } = setUp(context);
  const [waiting, other, cut] = await queueOnly(manager, 3);
  await lose(store, other);
  assert.deepEqual(await queueCut(store), { goOn: [], left: [] }, 'nobody who worked the queue off had taken it');
  await store.updateRun({ run: cut, patch: { queue: { position: cut, taken: true } } });
  await lose(store, cut);
  for (let time = 0; time < 3; time++) {
    assert.deepEqual(await queueCut(store), { goOn: [cut], left: [] });
    assert.deepEqual(await order(store), [cut, waiting]);
    await lose(store, cut);
  }
  assert.deepEqual(await queueCut(store), { goOn: [], left: [cut] }, 'it came no farther');
  assert.deepEqual(await queueCut(store), { goOn: [], left: [] }, 'said once');
  assert.equal((await store.run({ run: cut })).state, 'interrupted');
  assert.match((await store.log({ run: cut })).at(-1)!.message, /^It was cut short 3 times in a row without coming/);

  // A person may try again.
  const worker = another();
  await worker.resume({ run: cut });
  assert.equal((await worker.finished({ run: cut })).state, 'completed');
  assert.equal((await store.run({ run: cut })).queue?.cut, undefined);
});

test('a run that was cut short and moved to the trash does not go on by itself when it comes back', async (context) => {
  const { store, manager } = setUp(context);
  const [cut] = await queueOnly(manager, 1);
  await store.updateRun({ run: cut, patch: { queue: { position: cut, taken: true } } });
  await lose(store, cut);
  await store.deleteRuns({ runs: [cut] });
  await store.restoreRuns({ runs: [cut] });
  assert.deepEqual(await queueCut(store), { goOn: [], left: [] });
  assert.equal((await store.run({ run: cut })).state, 'interrupted');
});

test('a full disk fails the run that found it, and those that wait go on waiting', async (context) => {
  const full = new InputError('store.full', 'The disk is full.', '');
  const { store, manager } = setUp(context, { breathe: () => Promise.reject(full) });
  const { id: first } = await manager.start({ config: tableConfig(2) });
  const { id: second } = await manager.start({ config: tableConfig(2) });
  assert.equal((await manager.finished({ run: first })).error?.code, 'store.full');
  assert.deepEqual([await isQueuePaused(store), await order(store)], [true, [second]]);
});

test('a disk so full that not even the queue can be paused fails no run by that', async (context) => {
  const full = new InputError('store.full', 'The disk is full.', '');
  const { store, data } = setUp(context);
  const parts = { data, hosts: createTableHosts({ breathe: () => Promise.reject(full) }), owner: processOwner() };
  const stuck: StoreService = { ...store, setSetting: () => Promise.reject(full) };
  const manager = createRunManager({ ...parts, store: stuck, worksOffQueue: true });
  const { id: first } = await manager.start({ config: tableConfig(2) });
  const { id: second } = await manager.start({ config: tableConfig(2) });
  for (const run of [first, second]) {
    const { state, error } = await manager.finished({ run });
    assert.deepEqual([state, error?.message], ['failed', 'The disk is full.']);
  }
});

test('what waits for a run goes on waiting while that was cut short and goes on by itself, not where a person has to see to it', async (context) => {
  const { store, manager, another } = setUp(context);
  const [cut] = await queueOnly(manager, 1);
  const { id: later } = await manager.start({ config: tableConfig(2), queue: { only: true, after: cut } });
  await store.updateRun({ run: cut, patch: { queue: { position: cut, taken: true } } });
  await lose(store, cut);
  assert.deepEqual([...(await readQueue(store)).open], [cut]);
  await manager.start({ config: tableConfig(2), queue: { only: true, after: cut } });
  await store.updateRun({ run: cut, patch: { queue: { position: cut } } });
  assert.deepEqual([...(await readQueue(store)).open], []);
  const worker = another();
  await worker.adopt();
  assert.equal((await worker.finished({ run: later })).state, 'completed');
});

test('a run that has ended is put back into the queue, where a person wants it', async (context) => {
  const { store, manager } = setUp(context);
  const [first, second] = await queueOnly(manager, 2);
  await manager.stop({ run: first });
  await manager.finished({ run: first });
  const put = await manager.resume({ run: first, queue: { only: true, priority: 'low', notBefore: 5 } });
  assert.deepEqual([put.state, put.queue?.notBefore, manager.active()], ['queued', 5, []]);
  assert.deepEqual(await order(store), [second, first]);
  await assert.rejects(manager.resume({ run: first, queue: { only: true } }), { code: 'input.run_state' });
  await assert.rejects(manager.resume({ run: second, queue: { only: true, after: 99 } }), { code: 'input.run_state' });
});

test('a thousand waiting runs are put in order by one question, and one is moved by one change', async (context) => {
  const { store } = setUp(context);
  const run = { dataset: 'made', datasetName: 'Made up', config: tableConfig(2), owner: { pid: 0, startedAt: 0 } };
  for (let i = 0; i < 1_000; i++) await store.createRun({ ...run, name: `run ${i}` });
  const calls: string[] = [];
  const counted = new Proxy(store, {
    get: (target, name: keyof StoreService) => {
      calls.push(name);
      return target[name];
    },
  });
  assert.equal((await waitingRuns(counted)).length, 1_000);
  assert.deepEqual(calls, ['runs']);
  await moveInQueue(counted, 900, 0);
  assert.deepEqual(calls, ['runs', 'runs', 'updateRun']);
  assert.equal((await order(store))[0], 900);
});

test('flags: a time of day is the next one, a time that is past and flags without the queue are refused', () => {
  const now = new Date(2026, 10, 23, 22, 0);
  const at = (text: string): Date => new Date(queueWish({ queue: true, 'start-at': text }, now)!.notBefore!);
  assert.deepEqual(at('22:30'), new Date(2026, 10, 23, 22, 30));
  assert.deepEqual(at('7:00'), new Date(2026, 10, 24, 7, 0));
  assert.deepEqual(at('2026-12-24T18:00'), new Date(2026, 11, 24, 18, 0));
  for (const text of ['25:00', 'soon', '2026-11-01', '']) assert.throws(() => at(text), { code: 'usage.option' }, text);
  assert.throws(() => queueWish({ first: true }), { code: 'usage.option' });
  assert.equal(queueWish({ queue: true, priority: 'low' })!.priority, 'low');
  assert.throws(() => queueWish({ queue: true, priority: 'urgent' }), { code: 'usage.option' });
  assert.throws(() => queueWish({ priority: 'high' }), { code: 'usage.option' });
  assert.throws(() => queueWish({ after: '3' }), { code: 'usage.option' });
  assert.equal(queueWish({}), undefined);
});
