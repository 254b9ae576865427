// A run that is to be done by a time: how many steps there is time for by hand, a schedule that stays even when the plan changes, and real
// trainings on a clock that runs as the test wants it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { deadlineText } from '../../engine/protocol/deadline.ts';
import type { MetricPoint, RunResult } from '../../engine/protocol/runs.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { RunControl } from '../../engine/train/control.ts';
import { Pace, replan, shareAt, stepsInTime, untilTraining } from '../../engine/train/deadline.ts';
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
}

/** Trains on a table of 6 steps an epoch; `took` milliseconds go by between two submits of steps, whatever they really take. */
async function trainUntil(
  milliseconds: number,
  took: (now: number) => number,
  { stopAt = Infinity, pause, checkpoint, begin = 0 }: Disturbed = {},
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
    const parts = { backend, model, training: untilTraining({ ...training, seed }), data: table.data };
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
  assert.ok(epochs < 0.6 * planned, `${epochs} of ${planned} epochs`);
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

test('in words: what was planned and what became of it', () => {
  const until = new Date(2026, 10, 24, 7, 0).getTime();
  const told = { until, planned: 412.4, epochs: 398, ended: until - 480_000, annealed: true };
  assert.equal(deadlineText(told), 'Done 8 min 0 s before 07:00: 398 epochs, annealed; 412 planned at first');
  const stopped = { ...told, planned: 2.5, epochs: 2.5, ended: until + 5_000, annealed: false };
  assert.equal(deadlineText(stopped), 'Done 5.00 s after 07:00: 2.5 epochs, not annealed to the end');
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
