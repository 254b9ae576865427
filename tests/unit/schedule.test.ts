// Which waiting runs begin beside others: by hand for each rule, and drawn at random for what must never happen.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { atOnceKey, atOnceOf } from '../../engine/protocol/queue.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { createRunManager, type RunManager } from '../../engine/runs/manager.ts';
import { turns, type Claim, type Room } from '../../engine/runs/schedule.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, slow, tableConfig, type TableData } from './fixtures/training.ts';

const room: Room = { cores: 8, bytes: 16e9, atOnce: null };
const cpu = (run: number, threads = 0, bytes: number | null = 1e9): Claim => ({ run, device: 'cpu', threads, bytes });
const gpu = (run: number, bytes: number | null = 1e9): Claim => ({ run, device: 'gpu', threads: 0, bytes });
const any = (run: number): Claim => ({ run, device: 'any', threads: 0, bytes: 1e9 });
const begin = (...request: Parameters<typeof turns>): readonly [number, number][] =>
  turns(...request).map(({ run, threads }) => [run, threads]);

test('by itself the first run has the whole processor until it says how little it uses; the next has what is left', () => {
  assert.deepEqual(begin(room, [], [cpu(1), cpu(2)]), [[1, 0]]);
  assert.deepEqual(begin(room, [cpu(1)], [cpu(2)]), [], 'nobody knows yet what the first one uses');
  assert.deepEqual(begin(room, [cpu(1, 8)], [cpu(2)]), [], 'it uses all');
  assert.deepEqual(begin(room, [cpu(1, 1)], [cpu(2), cpu(3)]), [[2, 7]]);
  assert.deepEqual(begin(room, [cpu(1, 1), cpu(2, 1)], [cpu(3, 2), cpu(4, 4), cpu(5)]), [
    [3, 2],
    [4, 4],
  ]);
});

test('a number that a person chose divides the cores from the first run on, and holds for all devices together', () => {
  const two = { ...room, atOnce: 2 };
  assert.deepEqual(begin(two, [], [cpu(1), cpu(2), cpu(3)]), [
    [1, 4],
    [2, 4],
  ]);
  assert.deepEqual(begin(two, [gpu(1)], [cpu(2), cpu(3)]), [[2, 4]]);
  assert.deepEqual(begin({ ...room, atOnce: 1 }, [], [cpu(1), gpu(2)]), [[1, 0]]);
  assert.deepEqual(begin({ ...room, atOnce: 3, cores: 2 }, [], [cpu(1), cpu(2), cpu(3)]), [
    [1, 1],
    [2, 1],
  ]);
});

test('a GPU has one run; one that measures which device is faster has both to itself until it has chosen', () => {
  assert.deepEqual(begin(room, [gpu(1)], [gpu(2), cpu(3)]), [[3, 0]]);
  assert.deepEqual(begin(room, [gpu(1)], [any(2)]), []);
  assert.deepEqual(begin(room, [], [any(1), gpu(2), cpu(3)]), [[1, 0]]);
  assert.deepEqual(begin(room, [cpu(1, 8)], [gpu(2)]), [[2, 0]]);
});

test('memory: what does not fit waits, and what is not known trains beside nothing on its device', () => {
  const going = [cpu(1, 1, 10e9)];
  assert.deepEqual(begin(room, going, [cpu(2, 1, 7e9)]), []);
  assert.deepEqual(begin(room, going, [cpu(2, 1, 6e9)]), [[2, 1]]);
  assert.deepEqual(begin(room, going, [gpu(2, 7e9)]), []);
  assert.deepEqual(begin(room, going, [cpu(2, 1, null), gpu(3, null)]), [[3, 0]]);
  assert.deepEqual(begin(room, [], [cpu(1, 0, 99e9)]), [[1, 0]], 'alone it may try');
});

test('none passes another that waits for the same: the large one has its turn however many small ones stand behind it', () => {
  assert.deepEqual(begin(room, [cpu(1, 4)], [cpu(2, 8), cpu(3, 1), gpu(4)]), [[4, 0]]);
  assert.deepEqual(begin(room, [cpu(1, 1, 10e9)], [cpu(2, 1, 9e9), cpu(3, 1), gpu(4)]), []);
  assert.deepEqual(begin(room, [], [cpu(2, 8), cpu(3, 1)]), [[2, 8]]);
});

test('10,000 drawn rooms: never over cores or memory, never two on a GPU, equals in their order, and an empty machine always works', () => {
  let seed = 11;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 10_000; round++) {
    const drawn: Room = { cores: 1 + random(8), bytes: random(8) * 1e9, atOnce: random(2) ? null : 1 + random(4) };
    const waiting = Array.from({ length: random(7) }, (_, run): Claim => {
      const device = (['cpu', 'gpu', 'any'] as const)[random(3)];
      return {
        run,
        device,
        threads: random(2) ? 0 : 1 + random(drawn.cores),
        bytes: random(5) ? random(4) * 1e9 : null,
      };
    });
    const chosen = turns(drawn, [], waiting);
    const said = `round ${round}: ${JSON.stringify([drawn, waiting, chosen])}`;
    assert.equal(chosen.length > 0, waiting.length > 0, said);
    const begun = chosen.map(({ run, threads }) => ({ ...waiting[run], threads }));
    const onCpu = begun.filter(({ device }) => device !== 'gpu');
    const cores = onCpu.reduce((sum, { threads }) => sum + (threads || drawn.cores), 0);
    assert.ok(cores <= drawn.cores, said);
    assert.ok(begun.filter(({ device }) => device !== 'cpu').length <= 1, said);
    assert.ok(drawn.atOnce === null || begun.length <= drawn.atOnce, said);
    const bytes = begun.reduce((sum, claim) => sum + (claim.bytes ?? 0), 0);
    assert.ok(begun.length < 2 || bytes <= drawn.bytes, said);
    for (const device of ['cpu', 'gpu'] as const) {
      const equal = waiting.filter((claim) => claim.device === device && claim.threads === 0 && claim.bytes === 1e9);
      const late = equal.findIndex(({ run }) => !chosen.some((turn) => turn.run === run));
      assert.ok(late < 0 || !equal.slice(late).some(({ run }) => chosen.some((turn) => turn.run === run)), said);
    }
  }
});

interface Setup {
  readonly store: StoreService;
  readonly manager: RunManager;
  readonly data: TableData;
  readonly most: () => number;
}

function setUp(context: TestContext, cores: number): Setup {
  const store = createStore(temporaryHome(context));
  const hosts = createTableHosts(slow(2));
  const machine = { cores, available: () => 8e9 };
  const data = createTableData();
  const parts = { store, data, hosts, owner: processOwner(), machine };
  const manager = createRunManager({ ...parts, worksOffQueue: true });
  context.after(async () => {
    await manager.stopAll();
    await store.close();
  });
  return { store, manager, data, most: hosts.most };
}

const startAll = async (manager: RunManager, count: number, epochs = 40): Promise<readonly number[]> => {
  const runs: number[] = [];
  for (let i = 0; i < count; i++) runs.push((await manager.start({ config: tableConfig(epochs) })).id);
  return runs;
};
const endAll = (manager: RunManager, runs: readonly number[]) =>
  Promise.all(runs.map((run) => manager.finished({ run })));

test('a manager lets a second run begin once the first one uses one core of two, no third, and says what it was given', async (context) => {
  const { store, manager, most } = setUp(context, 2);
  const runs = await startAll(manager, 3);
  const ended = await endAll(manager, runs);
  assert.deepEqual(
    ended.map(({ state }) => state),
    ['completed', 'completed', 'completed'],
  );
  assert.equal(most(), 2);
  assert.ok(ended[1].startedAt! < ended[0].endedAt!, 'the second waited though a core was free');
  const said = async (run: number): Promise<boolean> =>
    (await store.log({ run })).some(({ message }) => message.includes('it has one thread'));
  assert.deepEqual(await Promise.all(runs.map(said)), [false, true, true]);
  assert.ok((await store.run({ run: runs[0] })).queue!.bytes! > 90e6, 'what it takes is kept');
});

test('one at a time by choice, and what waits holds no rows; a change of it counts at once', async (context) => {
  const { store, manager, data, most } = setUp(context, 8);
  await store.setSetting({ key: atOnceKey, value: 1 });
  await endAll(manager, await startAll(manager, 2, 5));
  assert.equal(most(), 1);
  const [first] = await startAll(manager, 1, 5_000);
  while ((await store.run({ run: first })).progress === null) await new Promise((resolve) => setTimeout(resolve, 5));
  const runs = [first, ...(await startAll(manager, 2, 5_000))];
  assert.deepEqual([manager.begun().length, data.held.size], [1, 1]);
  await store.setSetting({ key: atOnceKey, value: 3 });
  while (manager.begun().length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const run of runs) await manager.stop({ run });
  await endAll(manager, runs);
  assert.equal(most(), 3);
  assert.deepEqual(
    [atOnceOf(2), atOnceOf('2'), atOnceOf(0), atOnceOf(null), atOnceOf(1.5)],
    [2, null, null, null, null],
  );
});

test('a run that has chosen the CPU, with all the threads that it was told to take, leaves the GPU to another', async (context) => {
  const { store, manager } = setUp(context, 2);
  const { id: first } = await manager.start({ config: tableConfig(5_000, { device: 'auto', threads: 2 }) });
  const { id: second } = await manager.start({ config: tableConfig(5_000, { device: 'gpu' }) });
  for (let tries = 0; tries < 200 && manager.begun().length < 2; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(manager.begun(), [first, second], (await store.run({ run: first })).device ?? '');
});
