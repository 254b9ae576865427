// A run that is to be done by a time: how many steps there is time for by hand, a schedule that stays even when the plan changes, and real
// trainings on a clock that runs as the test wants it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { deadlineText, leftInTime } from '../../engine/protocol/deadline.ts';
import type { MetricPoint, RunResult } from '../../engine/protocol/runs.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { RunControl } from '../../engine/train/control.ts';
import {
  cooled,
  isEnough,
  Pace,
  replan,
  shareAt,
  stepsInTime,
  timeToBeat,
  untilTraining,
} from '../../engine/train/deadline.ts';
import { train } from '../../engine/train/trainer.ts';
import { makeTable } from '../support/table.ts';
import { tableConfig } from './fixtures/training.ts';

test('by hand: a hundredth is kept back, 0.3 s at least and a minute at most; no plan undoes a step', () => {
  assert.equal(stepsInTime(100, 10_000, { step: 10, end: 700 }), 100 + 900);
  assert.equal(stepsInTime(100, 100_000, { step: 10, end: 0 }), 100 + 9_900);
  assert.equal(stepsInTime(100, 36_000_000, { step: 10, end: 0 }), 100 + 3_594_000);
  assert.equal(stepsInTime(100, 900, { step: 10, end: 700 }), 100);
  assert.equal(stepsInTime(100, -5, { step: 10, end: 0 }), 100);
});

test('the schedule is even, ends with the last step, and no change of the plan makes it jump', () => {
  const plan = { steps: 101, fromStep: 0, fromShare: 0 };
  assert.deepEqual([shareAt(plan, 0), shareAt(plan, 50), shareAt(plan, 100)], [0, 0.5, 1]);
  const longer = replan(plan, 50, 1_051);
  assert.deepEqual([shareAt(longer, 50), shareAt(longer, 550), shareAt(longer, 1_050)], [0.5, 0.75, 1]);
  const shorter = replan(longer, 550, 552);
  assert.deepEqual([shareAt(shorter, 550), shareAt(shorter, 551)], [0.75, 1]);
  assert.deepEqual(replan(shorter, 552, 10), { steps: 552, fromStep: 552, fromShare: 1 });
});

test('the speed is that of the last seconds, and a pause does not count', () => {
  const pace = new Pace();
  assert.equal(pace.step, null);
  for (let step = 0; step <= 100; step++) pace.mark(step * 10, step, 0);
  assert.equal(pace.step, 10);
  for (let step = 1; step <= 1_000; step++) pace.mark(1_000 + step * 20, 100 + step, 0);
  assert.equal(pace.step, 20);
  for (let step = 1; step <= 500; step++) pace.mark(21_000 + step * 10, 1_100 + step, 400_000);
  assert.equal(pace.step, 15, 'the more is left the longer it looks back, as far as it still knows');
  pace.anew();
  assert.equal(pace.step, null);
});

interface Trained {
  readonly result: RunResult;
  readonly rates: readonly number[];
  readonly log: readonly string[];
  /** On the clock of the test, in milliseconds since it began. */
  readonly ended: number;
  readonly checkpoint: Uint8Array;
}

/** A submit holds one step, however fast the machine is. */
const stepByStep = (backend: Backend): Backend => ({
  ...backend,
  compile: async (plan) => Object.assign(Object.create(await backend.compile(plan)), { stepsAtOnce: () => 1 }),
  close: () => backend.close(),
});

interface Disturbed {
  readonly stopAt?: number;
  readonly pause?: { readonly at: number; readonly milliseconds: number };
  readonly checkpoint?: Uint8Array;
  readonly begin?: number;
  /** Epochs without gain after which more are held to bring nothing; absent: all time is used. */
  readonly patience?: number;
  readonly learningRate?: number;
}

/** Trains on a table of 6 steps an epoch; `took` milliseconds go by between two submits of steps, whatever they really take. */
async function trainUntil(
  milliseconds: number,
  took: (now: number) => number,
  { stopAt = Infinity, pause, checkpoint, begin = 0, patience, learningRate }: Disturbed = {},
): Promise<Trained> {
  const table = makeTable({ rows: 120, numeric: 3, classes: 2 });
  const { model, training, seed } = tableConfig(8);
  const backend = stepByStep(createCpuBackend({ threads: 1 }));
  const points: MetricPoint[] = [];
  const log: string[] = [];
  let last = new Uint8Array();
  let now = begin;
  const control = new RunControl();
  let isPaused = false;
  const breathe = async (): Promise<void> => {
    now += took(now);
    if (now >= stopAt) control.stop();
    if (pause === undefined || isPaused || now < pause.at) return;
    isPaused = true;
    control.pause();
    setImmediate(() => {
      now += pause.milliseconds;
      control.resume();
    });
  };
  try {
    const { earlyStopping } = training;
    const stops = { ...earlyStopping, enabled: patience !== undefined, patience: patience ?? 1 };
    const { optimizer } = training;
    const rate = { ...optimizer, learningRate: learningRate ?? optimizer.learningRate };
    const own = { ...training, seed, optimizer: rate, earlyStopping: stops };
    const parts = { backend, model, training: untilTraining(own), data: table.data };
    const result = await train(
      {
        ...parts,
        readShard: async (shard) => table.readShard(shard),
        dataBudget: 1e9,
        control,
        surroundings: { ...nodeSurroundings, clock: () => now, now: () => now, breathe },
        until: milliseconds,
        checkpoint,
        events: {
          onReport: (event) => points.push(...event.points),
          onLog: ({ message }) => log.push(message),
          onPaused: () => undefined,
          onFile: ({ file, data }) => void (file === 'checkpoint.bin' && (last = data.slice())),
        },
      },
      () => undefined,
    );
    const rates = points.filter(({ series }) => series === 'learning_rate').map(({ value }) => value);
    return { result, rates, log, ended: now, checkpoint: last };
  } finally {
    await backend.close();
  }
}

test('as many epochs as there is time for, to the end of the schedule; slower or faster, it ends in time', async () => {
  const steady = await trainUntil(60_000, () => 20);
  const slower = await trainUntil(60_000, (now) => (now < 30_000 ? 20 : 60));
  const faster = await trainUntil(60_000, (now) => (now < 30_000 ? 20 : 10));
  for (const { result, rates, ended } of [steady, slower, faster]) {
    assert.equal(result.reason, 'completed');
    assert.equal(result.deadline!.annealed, true);
    assert.ok(ended <= 60_000 && ended > 55_000, `it ended after ${ended} ms`);
    assert.ok(rates.at(-1)! <= 0.02 * Math.max(...rates), `the last rate is ${rates.at(-1)}`);
    for (let i = 1; i < rates.length; i++) assert.ok(rates[i] <= rates[i - 1] * 1.0001, `the rate rises at epoch ${i}`);
  }
  assert.ok(steady.result.epochs > 8, 'it had the epochs of its settings');
  assert.ok(slower.result.epochs < 0.8 * steady.result.epochs);
  assert.ok(faster.result.epochs > 1.2 * steady.result.epochs);
  assert.match(steady.log.join('\n'), /Plans [\d,]+ epochs of .* to be done by \d\d:\d\d; its rate falls to the end/);
  assert.match(slower.log.join('\n'), /by what they take now/);
});

test('the first steps are slow: the first plan that is told is by those behind them', async () => {
  const { result, log } = await trainUntil(20_000, (now) => (now < 400 ? 100 : 10));
  const { planned, epochs } = result.deadline!;
  assert.ok(planned! > 0.8 * epochs && planned! < 1.25 * epochs, `${planned} of ${epochs} epochs`);
  assert.equal(log.filter((line) => line.startsWith('Plans')).length, 1, log.join('\n'));
});

test('steps that become a hundred times as fast do not come to the end of the plan before it is made anew', async () => {
  const { ended, result } = await trainUntil(3_000, (now) => (now < 200 ? 100 : 1));
  assert.ok(ended > 1_300, `it ended after ${ended} ms, ${result.steps} steps`);
});

test('where more time brings nothing the rate falls to the end soon, and the rest of the time is left', async () => {
  const quick = { learningRate: 0.1, patience: 20 };
  const all = await trainUntil(120_000, () => 20, { learningRate: 0.1 });
  const enough = await trainUntil(120_000, () => 20, quick);
  assert.match(enough.log.join('\n'), /More time brings nothing: no better validation loss since epoch \d+\. Its rate/);
  assert.equal(enough.result.reason, 'completed');
  const { annealed, enough: after, epochs } = enough.result.deadline!;
  assert.deepEqual([annealed, after], [true, enough.result.bestEpoch]);
  assert.ok(epochs < 0.2 * all.result.epochs, `${epochs} of ${all.result.epochs} epochs`);
  assert.ok(enough.rates.at(-1)! <= 0.02 * Math.max(...enough.rates), `the last rate is ${enough.rates.at(-1)}`);
  // Stopped while its rate falls, it goes on with that.
  const stopped = await trainUntil(120_000, () => 20, { ...quick, stopAt: 0.95 * enough.ended });
  assert.ok(decodeCheckpoint(stopped.checkpoint).state.plan!.most! > 0);
  const resumed = await trainUntil(120_000, () => 20, { ...quick, checkpoint: stopped.checkpoint, begin: 60_000 });
  assert.equal(resumed.result.epochs, epochs);
});

test('by hand: what has to be beaten has a second, or what the steps have left of it', () => {
  assert.deepEqual(
    [0, 8_800, 9_500, 9_900, 12_000].map((now) => timeToBeat(10_000, now)),
    [1_000, 1_000, 300, 0, 0],
  );
});

test('by hand: more bring nothing after as many epochs again as the best took, and as its patience allows', () => {
  assert.deepEqual(
    [isEnough(10, 19, 20), isEnough(10, 20, 20), isEnough(100, 99, 20), isEnough(100, 100, 20)],
    [false, true, false, true],
  );
  const plan = { steps: 10_001, fromStep: 0, fromShare: 0 };
  const soon = cooled(plan, 1_000);
  assert.deepEqual(soon, { steps: 1_250, fromStep: 1_000, fromShare: 0.1, most: 1_250 });
  assert.equal(replan(soon, 1_100, 90_000).steps, 1_250, 'however much time there is');
  assert.equal(replan(soon, 1_100, 1_150).steps, 1_150, 'there may be less');
});

test('a pause of hours takes its time from the epochs; beyond the time it ends soon after, and says that it was not annealed', async () => {
  const hour = 3_600_000;
  const pause = { at: hour, milliseconds: 3 * hour };
  const within = await trainUntil(5 * hour, () => 20_000, { pause });
  assert.ok(within.ended <= 5 * hour && within.ended > 4.8 * hour, `it ended after ${within.ended / hour} hours`);
  assert.equal(within.result.deadline!.annealed, true);
  const beyond = await trainUntil(2 * hour, () => 20_000, { pause });
  assert.ok(beyond.ended < 4.05 * hour, `it ended after ${beyond.ended / hour} hours`);
  const { annealed, planned, epochs } = beyond.result.deadline!;
  assert.deepEqual([beyond.result.reason, annealed], ['completed', false]);
  assert.ok(epochs < 0.6 * planned!, `${epochs} of ${planned} epochs`);
});

test('a time that leaves less than an epoch cuts it short; one that has passed is refused before anything is trained', async () => {
  const { result, ended, rates } = await trainUntil(8_000, () => 1_000);
  assert.ok(result.steps < 6 && result.steps > 0, `${result.steps} steps`);
  assert.ok(ended <= 8_000 && rates.at(-1)! > 0);
  await assert.rejects(
    trainUntil(5_000, () => 20, { begin: 5_000 }),
    { code: 'input.deadline' },
  );
});

test('no more time is left than there is, whatever the first steps took', () => {
  assert.equal(leftInTime(559_000, 432_000_000, 0), 432_000);
  assert.equal(leftInTime(400, 432_000_000, 0), 400);
  assert.equal(leftInTime(5, 1_000, 2_000), 0);
  assert.deepEqual([leftInTime(5, undefined, 0), leftInTime(null, 1_000, 0)], [5, null]);
});

test('in words: what was planned and what became of it', () => {
  const until = new Date(2026, 10, 24, 7, 0).getTime();
  const told = { until, planned: 412.4, epochs: 398, ended: until - 480_000, annealed: true };
  assert.equal(deadlineText(told), 'Done 8 min 0 s before 07:00: 398 epochs, annealed; 412 planned at first');
  const enough = { ...told, enough: 120 };
  assert.match(
    deadlineText(enough),
    /^Done 8 min 0 s before 07:00: 398 epochs, annealed; more brought nothing after epoch 120$/,
  );
  const { annealed: _, ...trees } = { ...told, epochs: 1 };
  const tree = { one: 'tree', many: 'trees' };
  assert.equal(deadlineText(trees, tree), 'Done 8 min 0 s before 07:00: 1 tree; 412 planned at first');
  const night = { ...told, ended: until - 8 * 3_600_000 };
  assert.match(deadlineText(night), /^Done 8 h 0 min before 2026-11-24 07:00: /, 'a time of another day has its date');
  const stopped = { ...told, planned: 2.5, epochs: 2.5, ended: until + 5_000, annealed: false };
  assert.equal(deadlineText(stopped), 'Done 5.00 s after 07:00: 2.5 epochs, not annealed to the end');
  for (const [late, text] of [
    [9_996, '10 s'],
    [59_700, '1 min 0 s'],
    [3_599_800, '1 h 0 min'],
  ]) {
    assert.match(deadlineText({ ...stopped, ended: until + Number(late) }), new RegExp(`^Done ${text} after`));
  }
});

test('stopped and resumed, it goes on with its plan, and in what time is left', async () => {
  const stopped = await trainUntil(60_000, () => 20, { stopAt: 30_000 });
  assert.equal(stopped.result.deadline!.annealed, false);
  const { state } = decodeCheckpoint(stopped.checkpoint);
  assert.ok(state.plan!.steps > state.step);
  const resumed = await trainUntil(60_000, () => 20, { checkpoint: stopped.checkpoint, begin: 40_000 });
  assert.ok(resumed.rates[0] <= stopped.rates.at(-1)! * 1.0001, 'the rate goes on from where it was');
  assert.ok(resumed.ended <= 60_000 && resumed.ended > 55_000 && resumed.result.deadline!.annealed);
  const late = await trainUntil(60_000, () => 20, { checkpoint: stopped.checkpoint, begin: 70_000 });
  assert.deepEqual([late.result.reason, late.result.steps], ['completed', state.step]);
  assert.equal(late.result.deadline!.annealed, false, 'its schedule was in the middle');
});
