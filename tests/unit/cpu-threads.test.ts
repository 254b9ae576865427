// How many threads a plan gets, and the measured choice between one and all of them while it runs.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { mostThreads, ThreadChooser } from '../../engine/backends/cpu/threads.ts';
import type { Call, Plan, Program } from '../../engine/plan/plan.ts';

const place = { slot: 0, offset: 0 };
const call: Call = { kernel: 'add', inputs: [place, place], outputs: [place], params: { count: 100_000 } };

/** A plan whose programs have ten calls and these FLOPs. */
function planWith(flops: Readonly<Record<string, number>>): Plan {
  const program = (name: string): Program => ({
    name,
    batch: 1,
    calls: Array.from({ length: 10 }, () => call),
    flops: flops[name],
    bytes: 0,
  });
  return {
    slots: [{ id: 0, elements: 100_000, type: 'f32', kind: 'persistent', label: 'x' }],
    tensors: { x: { ...place, shape: [100_000], type: 'f32' } },
    programs: Object.fromEntries(Object.keys(flops).map((name) => [name, program(name)])),
    stepCapacity: 1000,
    checkpoint: [],
  };
}

test('1. gives small calls one thread and large ones up to all', () => {
  assert.equal(mostThreads(planWith({ 'train@8': 1e5 }), 8), 1);
  assert.equal(mostThreads(planWith({ 'train@8': 3e6 }), 8), 3);
  assert.equal(mostThreads(planWith({ 'train@8': 1e9 }), 8), 8);
  assert.equal(mostThreads(planWith({ 'train@8': 1e5, 'predict@256': 1e9 }), 8), 1, 'training decides');
  assert.equal(mostThreads(planWith({ 'predict@256': 1e9 }), 8), 8);
  assert.equal(mostThreads(planWith({}), 8), 1);
});

/** Runs `milliseconds` of simulated time with the given times a step; returns the share of the steps run on all threads. */
function simulate(chooser: ThreadChooser, from: number, milliseconds: number, one: number, all: number): number {
  let now = from;
  let steps = 0;
  let onAll = 0;
  while (now < from + milliseconds) {
    const choice = chooser.next(100, now);
    const elapsed = choice.steps * (choice.all ? all : one);
    now += elapsed;
    chooser.record(choice.all, choice.steps, elapsed, now);
    steps += choice.steps;
    if (choice.all) onAll += choice.steps;
  }
  return onAll / steps;
}

test('2. takes what is faster, and hardly spends time on trying the other', () => {
  assert.ok(simulate(new ThreadChooser(), 0, 10_000, 1, 0.6) > 0.98);
  assert.ok(simulate(new ThreadChooser(), 0, 10_000, 0.6, 1) < 0.02);
});

test('3. notices when the other becomes faster', () => {
  const chooser = new ThreadChooser();
  assert.ok(simulate(chooser, 0, 5_000, 1, 0.6) > 0.97);
  assert.ok(simulate(chooser, 5_000, 5_000, 1, 50) < 0.05, 'another program took a core');
  assert.ok(simulate(chooser, 10_000, 60_000, 1, 0.6) > 0.6, 'and gave it back');
});

test('3. is back soon where a core was gone for a moment, however long it had served', () => {
  const chooser = new ThreadChooser();
  assert.ok(simulate(chooser, 0, 60_000, 1, 0.6) > 0.98);
  simulate(chooser, 60_000, 80, 1, 8);
  assert.ok(simulate(chooser, 60_080, 2_000, 1, 0.6) > 0.9);
});

test('3. one slow stretch of many is no reason to change', () => {
  const chooser = new ThreadChooser();
  let now = 0;
  let [steps, onAll] = [0, 0];
  for (let stretch = 0; stretch < 5_000; stretch++) {
    const choice = chooser.next(100, now);
    // Another program takes a core for 30 ms, again and again.
    const elapsed = choice.steps * (choice.all ? 0.6 : 1) + (choice.all && stretch % 50 === 0 ? 30 : 0);
    now += elapsed;
    chooser.record(choice.all, choice.steps, elapsed, now);
    steps += choice.steps;
    if (choice.all) onAll += choice.steps;
  }
  assert.ok(onAll / steps > 0.97, `${onAll} of ${steps}`);
});

test('3. goes back to threads that are slow when they wake', () => {
  const chooser = new ThreadChooser();
  let now = 0;
  let sinceWaking = 0;
  const run = (until: number, all: number): number => {
    let [steps, onAll] = [0, 0];
    while (now < until) {
      const choice = chooser.next(100, now);
      if (!choice.all) sinceWaking = 0;
      const elapsed = choice.steps * (choice.all ? (sinceWaking < 4 ? 1.3 : all) : 1);
      if (choice.all) sinceWaking += elapsed;
      now += elapsed;
      chooser.record(choice.all, choice.steps, elapsed, now);
      steps += choice.steps;
      if (choice.all) onAll += choice.steps;
    }
    return onAll / steps;
  };
  assert.ok(run(1_000, 0.6) > 0.9, 'at first');
  run(6_000, 1.5);
  run(7_500, 0.6);
  assert.ok(run(10_000, 0.6) > 0.95, 'a second and a half after they became faster again');
});

test('3. trials of long steps take a small part of the time, where all threads are many times faster and where they are slower', () => {
  assert.ok(simulate(new ThreadChooser(), 0, 3_600_000, 20_000, 1_000) > 0.995);
  assert.ok(simulate(new ThreadChooser(), 0, 600_000, 200, 1_600) < 0.005);
  // A first measurement takes no longer than it needs, however many steps it might take.
  assert.ok(simulate(new ThreadChooser(), 0, 60_000, 1_600, 200) > 0.97);
});

test('4. counts no stretch longer than what is left', () => {
  const chooser = new ThreadChooser();
  for (let i = 0; i < 50; i++) {
    const choice = chooser.next(3, i);
    assert.ok(choice.steps >= 1 && choice.steps <= 3);
    chooser.record(choice.all, choice.steps, 1, i);
  }
});

test('5. runs every step once, whatever is chosen', async () => {
  const backend = createCpuBackend();
  const executable = await backend.compile(planWith({ run: 1e9 }));
  executable.write('x', new Float32Array(100_000).fill(1));
  // Ten doublings a step: 12 steps end at 2^120. Waiting lets the other threads come up.
  for (let i = 0; i < 6; i++) {
    await executable.run('run', 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await executable.read('x', 99_990), new Float32Array(10).fill(2 ** 120));
  await executable.run('run', 0);
  await backend.close();
});

test('6. a plan held to more threads than are likely to pay says how many would', async () => {
  const paying = async (threads: number | undefined, flops: number): Promise<number | undefined> => {
    const backend = createCpuBackend({ threads });
    const { payingThreads } = await backend.compile(planWith({ 'train@8': flops }));
    await backend.close();
    return payingThreads;
  };
  assert.equal(await paying(2, 1e5), 1);
  assert.equal(await paying(2, 1e9), undefined);
  assert.equal(await paying(undefined, 1e5), undefined);
});

test('7. a thread that comes late to a program without calls does no call twice', async () => {
  const wide = planWith({ twice: 1e9 });
  const twice = { ...wide.programs['twice'], calls: [call] };
  const plan: Plan = { ...wide, programs: { nothing: { ...twice, name: 'nothing', calls: [] }, twice } };
  const backend = createCpuBackend({ threads: 2 });
  const executable = await backend.compile(plan);
  executable.write('x', new Float32Array(100_000).fill(1));
  // The second thread is only being started.
  await executable.run('nothing', 1);
  for (let i = 0; i < 4; i++) await executable.run('twice', 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(new Set(await executable.read('x')), new Set([16]));
  executable.dispose();
  await backend.close();
});
