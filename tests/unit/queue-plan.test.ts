// When waiting runs begin and end, by the rules by which the queue is worked off: by hand, on drawn queues, and of a real history.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createStore } from '../../engine/history/store.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { doneByText } from '../../engine/protocol/deadline.ts';
import { doneByThen, timeAsked, type QueuePlace } from '../../engine/protocol/queue.ts';
import { claimOf } from '../../engine/runs/claim.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { pauseQueue } from '../../engine/runs/queue.ts';
import { planQueue, readQueuePlan, type Awaiting, type QueueState } from '../../engine/runs/queue-plan.ts';
import type { Claim } from '../../engine/runs/schedule.ts';
import { uniform } from '../support/table.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, tableConfig } from './fixtures/training.ts';

const room = { cores: 4, bytes: 8e9, atOnce: null } as const;
const idle: QueueState = { room, going: [], waiting: [], paused: false, open: new Set(), now: 1_000 };

const cpu = (run: number, threads = 0): Claim => ({ run, device: 'cpu', threads, bytes: 1e9 });
const waits = (claim: Claim, takes: number | null, place: Partial<QueuePlace> = {}, until?: number): Awaiting => ({
  claim,
  takes,
  place: { position: claim.run, ...place },
  ...(until === undefined ? {} : { until }),
});
const times = (state: Partial<QueueState>): readonly (readonly unknown[])[] =>
  planQueue({ ...idle, ...state }).map(({ run, starts, ends, late }) => [run, starts, ends, ...(late ? ['late'] : [])]);

test('by hand: one behind the other, beside each other where cores are left, and a GPU run beside both', () => {
  assert.deepEqual(times({ waiting: [waits(cpu(2), 50), waits(cpu(1), 100)] }), [
    [1, 1_000, 1_100],
    [2, 1_100, 1_150],
  ]);
  const gpu: Claim = { run: 3, device: 'gpu', threads: 0, bytes: 1e9 };
  const beside = [
    waits(cpu(1, 2), 100),
    waits(cpu(2, 2), 30),
    waits(gpu, 10),
    waits(cpu(4, 4), 5),
    waits(cpu(5, 1), 5),
  ];
  assert.deepEqual(times({ waiting: beside }), [
    [1, 1_000, 1_100],
    [2, 1_000, 1_030],
    [3, 1_000, 1_010],
    [4, 1_100, 1_105],
    [5, 1_105, 1_110],
  ]);
  const going = [{ claim: cpu(9), ends: 1_500 }];
  assert.deepEqual(times({ going, waiting: [waits(cpu(1), 10)] }), [[1, 1_500, 1_510]]);
  const overdue = [{ claim: cpu(9), ends: 500 }];
  assert.deepEqual(times({ going: overdue, waiting: [waits(cpu(1), 10)] }), [[1, 1_000, 1_010]], 'it ends any moment');
});

test('by hand: what a run waits for, its priority, a time to be done by, and what nobody knows', () => {
  const waiting = [
    waits(cpu(1), 10, { after: 3 }),
    waits(cpu(2), 10, { notBefore: 1_500 }),
    waits(cpu(3), 100, { priority: 'low' }),
    waits(cpu(4), 20),
  ];
  assert.deepEqual(times({ waiting }), [
    [1, 1_120, 1_130],
    [2, 1_500, 1_510],
    [4, 1_000, 1_020],
    [3, 1_020, 1_120],
  ]);
  const timed = [waits(cpu(1), 900), waits(cpu(2), null, {}, 1_800), waits(cpu(3), null, {}, 2_500), waits(cpu(4), 5)];
  assert.deepEqual(times({ waiting: timed }), [
    [1, 1_000, 1_900],
    [2, 1_900, 1_900, 'late'],
    [3, 1_900, 2_500],
    [4, 2_500, 2_505],
  ]);
  assert.deepEqual(times({ waiting: [waits(cpu(1), null), waits(cpu(2), 5)] }), [
    [1, 1_000, null],
    [2, null, null],
  ]);
  assert.deepEqual(times({ paused: true, waiting: [waits(cpu(1), 5)] }), [[1, null, null]]);
  assert.deepEqual(times({ open: new Set([7]), waiting: [waits(cpu(1), 5, { after: 7 })] }), [[1, null, null]]);
});

test('drawn queues: nobody begins before the time or the run it waits for, a GPU has one run, and all have an end', () => {
  const next = uniform(12);
  const random = (below: number): number => Math.floor(below * next());
  for (let round = 0; round < 500; round++) {
    const drawn = { cores: 1 + random(8), bytes: 4e9, atOnce: random(2) ? null : 1 + random(4) };
    const waiting = Array.from({ length: random(12) }, (_, run): Awaiting => {
      const device = (['cpu', 'cpu', 'gpu', 'any'] as const)[random(4)];
      const claim = { run, device, threads: random(2) ? 0 : 1 + random(9), bytes: random(4) * 1e9 };
      const after = run > 0 && random(4) === 0 ? { after: random(run) } : {};
      const notBefore = random(4) === 0 ? { notBefore: random(3_000) } : {};
      return waits(claim, random(500), { position: random(5), ...after, ...notBefore });
    });
    const plan = planQueue({ ...idle, room: drawn, waiting });
    const said = JSON.stringify([drawn, waiting, plan]);
    assert.deepEqual(
      plan.map(({ run }) => run).toSorted((a, b) => a - b),
      waiting.map((_, run) => run),
      said,
    );
    const of = new Map(plan.map((each) => [each.run, each]));
    for (const { claim, place, takes } of waiting) {
      const { starts, ends } = of.get(claim.run)!;
      assert.ok(starts !== null && starts >= 1_000 && ends === starts + takes!, said);
      assert.ok(place.notBefore === undefined || starts >= place.notBefore, said);
      assert.ok(place.after === undefined || starts >= of.get(place.after)!.ends!, said);
      const beside = waiting.filter(
        ({ claim: { run } }) => of.get(run)!.starts! <= starts && of.get(run)!.ends! > starts,
      );
      assert.ok(drawn.atOnce === null || beside.length <= drawn.atOnce, said);
      assert.ok(beside.filter(({ claim: { device } }) => device !== 'cpu').length <= 1, said);
      const threads = beside.reduce(
        (sum, each) => sum + (each.claim.device === 'gpu' ? 0 : Math.min(drawn.cores, Math.max(1, each.claim.threads))),
        0,
      );
      assert.ok(beside.length < 2 || threads <= drawn.cores, said);
    }
  }
});

test('a run on CPU and GPU holds the place of both, wherever runs are trained', () => {
  const config = { ...tableConfig(2), device: 'cpu', devices: 'cpu,gpu' } as const;
  for (const cores of [null, 4]) assert.equal(claimOf(1, config, null, cores).device, 'any');
  assert.equal(claimOf(1, { ...config, devices: 'cpu:2' }, null, null).device, 'cpu');
});

test('a queue of the history: forecasts are kept with its runs, and the plan says what is done by a time', async (context) => {
  const store = createStore(temporaryHome(context));
  const manager = createRunManager({
    store,
    data: createTableData(),
    hosts: createTableHosts(),
    owner: processOwner(),
  });
  context.after(() => store.close());
  const wait = (config = tableConfig(50)): Promise<{ id: number }> => manager.start({ config, queue: { only: true } });
  const until = Date.now() + 3_600_000;
  const [first, second, third] = [await wait(), await wait(), await wait(tableConfig(2, { until }))];
  const { queue } = await store.run({ run: first.id });
  assert.ok(queue!.seconds! > 0 && queue!.bytes! > 0);
  const machine = { cores: 4, available: () => 8e9 };
  const now = Date.now();
  const [one, two, timed] = await readQueuePlan(store, machine, now);
  assert.deepEqual([one.run, one.starts, one.ends], [first.id, now, now + Math.round(1_000 * queue!.seconds!)]);
  assert.deepEqual([two.starts, timed.starts, timed.ends], [one.ends, two.ends, until]);
  const plan = [one, two, timed];
  const then = doneByThen(plan, two.ends!);
  assert.deepEqual(then, { done: [first.id, second.id], late: [third.id], unknown: [] });
  const [toTheMinute, toTheSecond] = [0, 32].map((seconds) => new Date(2026, 10, 28, 9, 22, seconds).getTime());
  assert.equal(
    doneByText(then, toTheMinute, toTheMinute - 3_600_000),
    'Done by 09:22, by the forecasts: 2 of 3; not run 3.',
  );
  assert.equal(doneByText(then, toTheSecond, toTheMinute), 'Done by 09:22:32, by the forecasts: 2 of 3; not run 3.');
  const dayBefore = toTheMinute - 86_400_000;
  assert.match(doneByText(then, toTheMinute, dayBefore), /^Done by 2026-11-28 09:22, by the forecasts/);
  assert.match(doneByText(doneByThen(plan, until), until, now), /: all of them\.$/);
  await pauseQueue(store, true);
  assert.deepEqual(doneByThen(await readQueuePlan(store, machine, now), until).unknown.length, 3);
});

test('times that people write: the next such hour, or a day of the calendar; a day that its month has not is none', () => {
  const now = new Date('2026-11-28T09:30:00');
  const asked = (text: string): number | null => timeAsked(text, now);
  const local = (text: string): number => new Date(text).getTime();
  assert.equal(asked('7:00'), local('2026-11-29T07:00'));
  assert.equal(asked(' 09:31 '), local('2026-11-28T09:31'));
  for (const text of ['2026-12-24T07:00', '2026-12-24 07:00', '2026-12-24T7:00', '2026-12-24 7:00'])
    assert.equal(asked(text), local('2026-12-24T07:00'), text);
  assert.equal(asked('2026-12-24T07:00:30'), local('2026-12-24T07:00:30'));
  assert.equal(asked('2026-12-24'), local('2026-12-24T00:00'));
  assert.equal(asked('2028-02-29T7:00Z'), Date.UTC(2028, 1, 29, 7));
  for (const text of ['2026-11-31T07:00', '2026-02-29 07:00', '2026-12-24T25:00', '24:00', '7', '7:00pm', ''])
    assert.equal(asked(text), null, text);
});

test('where clocks are put forward or back, an hour that people write is still the next one there is', (t) => {
  const zone = process.env['TZ'];
  t.after(() => (zone === undefined ? delete process.env['TZ'] : (process.env['TZ'] = zone)));
  process.env['TZ'] = 'Europe/Berlin';
  const asked = (text: string, now: string): string => new Date(timeAsked(text, new Date(now))!).toISOString();
  // Put forward from 2 to 3: 2:30 is not there that night.
  assert.equal(asked('2:30', '2027-03-28T00:30:00Z'), '2027-03-28T01:30:00.000Z');
  assert.equal(asked('2:30', '2027-03-28T01:10:00Z'), '2027-03-29T00:30:00.000Z');
  assert.equal(asked('7:00', '2027-03-27T21:00:00Z'), '2027-03-28T05:00:00.000Z');
  // Put back from 3 to 2: 2:30 is there twice.
  assert.equal(asked('2:30', '2026-10-24T22:00:00Z'), '2026-10-25T00:30:00.000Z');
  assert.equal(asked('2:30', '2026-10-25T00:45:00Z'), '2026-10-25T01:30:00.000Z');
  assert.equal(asked('2:30', '2026-10-25T01:10:00Z'), '2026-10-25T01:30:00.000Z');
  assert.equal(asked('2:30', '2026-10-25T01:45:00Z'), '2026-10-26T01:30:00.000Z');
  assert.equal(asked('7:00', '2026-10-24T21:00:00Z'), '2026-10-25T06:00:00.000Z');
});
