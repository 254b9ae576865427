// `queue run`: several runs at once, each in a process of its own. They turn out as one after the other does, what happens to one happens to
// it alone, and no process outlives the command.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { lastEvent, startTrainyard, tables, temporaryHome, trainyard, type Running } from '../support/cli.ts';
import { markedProcesses } from '../support/processes.ts';

const digits = path.join(tables, 'digits.csv');
const skip = process.platform === 'linux' ? false : 'processes are looked for in /proc';

/** Puts two runs of one thread each into the queue, with seeds 1 and 2. */
async function queueTwo(home: string, epochs: number): Promise<void> {
  const args = ['--task', 'classification', '--hidden', '256,256', '--patience', '0', '--threads', '1', '--queue'];
  for (const seed of ['1', '2'])
    await lastEvent(home, 'train', digits, ...args, '--epochs', String(epochs), '--seed', seed);
}

interface Queue extends Running {
  /** Processes of it that live, whoever their parent is by now. */
  readonly alive: () => readonly number[];
  /** Those of them that train. */
  readonly training: () => readonly number[];
}

function workOff(context: TestContext, home: string): Queue {
  const mark = path.basename(home);
  const running = startTrainyard(home, ['queue', 'run', '--json'], undefined, { TRAINYARD_SOAK: mark });
  const alive = (): readonly number[] => markedProcesses(mark).map(({ pid }) => pid);
  context.after(() => alive().forEach((pid) => process.kill(pid, 'SIGKILL')));
  const trains = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('trainer');
  return { ...running, alive, training: () => alive().filter(trains) };
}

async function until(reached: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await reached())) {
    if (performance.now() > end) assert.fail(what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Until both runs train and have a checkpoint. */
async function bothTrain(home: string, { events }: Queue): Promise<void> {
  const started = (): unknown[] => events.filter(({ event }) => event === 'started').map(({ run }) => run);
  await until(() => started().length === 2, 'both train at once');
  assert.deepEqual(started().sort(), [1, 2]);
  for (const run of [1, 2])
    await until(async () => (await show(home, run)).hasCheckpoint === true, `run ${run} is kept`);
}

const show = (home: string, run: number): Promise<Record<string, unknown>> => lastEvent(home, 'show', String(run));
const stepOf = async (home: string, run: number): Promise<number> =>
  ((await show(home, run)).progress as { readonly step: number }).step;

test('two runs train at the same time, to the bits that they have one after the other', async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 60);
  const { code, stdout, stderr, events } = await trainyard(home, 'queue', 'run', '--json');
  assert.deepEqual([code, stderr, stdout.trim().split('\n').length], [0, '', events.length]);
  const facts = events.map(({ event, run, state }) => [event, run, state].filter(Boolean).join(' '));
  assert.deepEqual(facts.slice(0, 2).sort(), ['started 1', 'started 2']);
  assert.deepEqual(facts.slice(2, 4).sort(), ['ended 1 completed', 'ended 2 completed']);
  assert.deepEqual(events.at(-1), { event: 'finished', waiting: 0 });

  await queueTwo(home, 60);
  assert.equal((await trainyard(home, 'queue', 'run', '--at-once', '1')).code, 0);
  const times = await Promise.all([1, 2, 3, 4].map((run) => show(home, run)));
  const overlap = (a: number, b: number): boolean => Number(times[b].startedAt) < Number(times[a].endedAt);
  assert.deepEqual([overlap(0, 1), overlap(1, 0), overlap(2, 3)], [true, true, false]);
  const weights = [1, 2, 3, 4].map((run) => readFileSync(path.join(home, 'runs', String(run), 'best.safetensors')));
  assert.ok(weights[0].equals(weights[2]) && weights[1].equals(weights[3]));
  assert.ok(!weights[0].equals(weights[1]));
});

test(
  'a training process that is killed fails its run alone, which then goes on from its checkpoint',
  { skip },
  async (context) => {
    const home = temporaryHome(context);
    await queueTwo(home, 1_000_000);
    const queue = workOff(context, home);
    await bothTrain(home, queue);
    const [killed, ...others] = queue.training();
    assert.equal(others.length, 1);
    process.kill(killed, 'SIGKILL');
    const { run: failed, state, error } = await queue.event('ended');
    assert.equal(state, 'failed');
    assert.match((error as Error).message, /^The process that trained this run is gone: it was ended by SIGKILL\.$/);
    const other = 3 - Number(failed);
    const before = await stepOf(home, other);
    await until(async () => (await stepOf(home, other)) > before, 'the other one goes on');
    assert.deepEqual([(await show(home, other)).state, queue.training()], ['running', others]);

    assert.equal((await lastEvent(home, 'stop', String(other))).state, 'stopped');
    assert.deepEqual((await queue.finished).events.at(-1), { event: 'finished', waiting: 0 });
    assert.deepEqual(queue.alive(), []);
    const resumed = startTrainyard(home, ['train', '--resume', String(failed), '--json']);
    await resumed.event('epoch');
    resumed.child.kill('SIGINT');
    const { log } = { log: await trainyard(home, 'show', String(failed), '--log') };
    assert.match(log.stdout, /Resumed from its checkpoint/);
    assert.equal((await resumed.finished).code, 0);
  },
);

test('Ctrl-C stops both and keeps their best weights; they stand first and go on', { skip }, async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 1_000_000);
  const queue = workOff(context, home);
  await bothTrain(home, queue);
  // A terminal signals all of them.
  for (const pid of queue.alive()) process.kill(pid, 'SIGINT');
  const { code, stderr, events } = await queue.finished;
  assert.deepEqual(
    [code, stderr, events.at(-1)],
    [
      0,
      'Stops; what has not ended waits in the queue, and goes on from where it is.\n',
      { event: 'finished', waiting: 2 },
    ],
  );
  assert.deepEqual(queue.alive(), []);
  for (const run of [1, 2]) {
    const { state, hasCheckpoint } = await show(home, run);
    assert.deepEqual([state, hasCheckpoint], ['queued', true]);
    assert.ok(readFileSync(path.join(home, 'runs', String(run), 'best.safetensors')).length > 0);
  }
  const again = workOff(context, home);
  await bothTrain(home, again);
  again.child.kill('SIGTERM');
  await again.finished;
  assert.match((await trainyard(home, 'show', '1', '--log')).stdout, /Resumed from its checkpoint/);
});

test('nothing outlives a command that is killed, and its runs can be resumed', { skip }, async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 1_000_000);
  const queue = workOff(context, home);
  await bothTrain(home, queue);
  assert.equal(queue.training().length, 2);
  queue.child.kill('SIGKILL');
  await until(() => queue.alive().length === 0, 'they all end');
  for (const run of [1, 2]) {
    const { state, hasCheckpoint } = await show(home, run);
    assert.deepEqual([state, hasCheckpoint], ['interrupted', true]);
  }
});

test('the next command goes on with what a killed one trained, and with nothing else', { skip }, async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 1_000_000);
  // What trains for itself is nobody else's.
  const alone = startTrainyard(home, ['train', digits, '--epochs', '1000000', '--patience', '0', '--json']);
  await alone.event('epoch');
  alone.child.kill('SIGKILL');
  await alone.finished;
  const first = workOff(context, home);
  await bothTrain(home, first);
  first.child.kill('SIGKILL');
  await until(() => first.alive().length === 0, 'they all end');
  const reached = await Promise.all([1, 2].map((run) => stepOf(home, run)));

  const next = workOff(context, home);
  await bothTrain(home, next);
  for (const [at, step] of reached.entries())
    await until(async () => (await stepOf(home, at + 1)) > step, `run ${at + 1} goes on`);
  next.child.kill('SIGINT');
  const { stderr, events } = await next.finished;
  assert.match(stderr, /^Goes on with run 1, run 2: what worked the queue off was killed\.$/m);
  assert.deepEqual(events.at(-1), { event: 'finished', waiting: 2 });
  assert.match((await trainyard(home, 'show', '2', '--log')).stdout, /Resumed from its checkpoint/);
  assert.equal((await show(home, 3)).state, 'interrupted');
});

test('every end is told once, and before the last line', async (context) => {
  const home = temporaryHome(context);
  const runs = [1, 2, 3, 4, 5];
  for (const run of runs)
    await lastEvent(home, 'train', digits, '--model', 'linear', '--penalty', String(run), '--threads', '1', '--queue');
  const { code, events, stderr } = await trainyard(home, 'queue', 'run', '--at-once', '2', '--json');
  assert.equal(code, 0, stderr);
  const ended = events.filter(({ event }) => event === 'ended').map(({ run }) => run as number);
  assert.deepEqual(
    ended.sort((a, b) => a - b),
    runs,
  );
  assert.deepEqual(events.at(-1), { event: 'finished', waiting: 0 });
});

test('--at-once takes what Settings take', async (context) => {
  const home = temporaryHome(context);
  for (const count of ['0', '65', '1.5', 'all']) {
    const { code, stderr } = await trainyard(home, 'queue', 'run', '--at-once', count);
    assert.deepEqual(
      [code, stderr],
      [2, `trainyard: --at-once is “${count}”. It has to be a whole number from 1 to 64.\n`],
    );
  }
});

test('a run that waits is stopped at once where no process has it, and leaves the queue', async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 1_000_000);
  const start = performance.now();
  assert.deepEqual(await lastEvent(home, 'stop', '1'), { event: 'stop', run: 1, state: 'stopped' });
  assert.ok(performance.now() - start < 10_000);
  assert.equal((await show(home, 2)).state, 'queued');
  assert.equal((await trainyard(home, 'delete', '1')).code, 0);
  assert.deepEqual(await lastEvent(home, 'queue', 'clear'), { event: 'cleared', runs: [2] });
});

test('a second command says that another process has the runs; one that was stopped is put back by train --resume --queue', async (context) => {
  const home = temporaryHome(context);
  await queueTwo(home, 1_000_000);
  const queue = workOff(context, home);
  await bothTrain(home, queue);
  const second = await trainyard(home, 'queue', 'run', '--json');
  assert.deepEqual(
    [second.code, second.stderr],
    [0, 'Another process has run 1, run 2: the app, or another `trainyard queue run`, trains what it has.\n'],
  );
  assert.equal((await lastEvent(home, 'stop', '1')).state, 'stopped');
  assert.equal((await lastEvent(home, 'stop', '2')).state, 'stopped');
  assert.equal((await queue.finished).code, 0);
  const put = ['train', '--resume', '2', '--queue', '--start-at', '2099-01-01T07:00'];
  assert.deepEqual(await lastEvent(home, ...put), { event: 'queued', run: 2, place: 1 });
  const { state, hasCheckpoint } = await show(home, 2);
  assert.deepEqual([state, hasCheckpoint], ['queued', true]);
});
