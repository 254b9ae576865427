// Runs across processes: paused, resumed and stopped from elsewhere, killed and continued, two at a time on one home.

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, npm, startTrainyard, tables, temporaryHome, trainyard } from '../support/cli.ts';

const digits = path.join(tables, 'digits.csv');
/** About 40 ms an epoch. */
const long = ['train', digits, '--task', 'classification', '--hidden', '512,512', '--patience', '0', '--threads', '1'];

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000));

test('a run is paused, resumed and stopped from another process', async (t) => {
  const home = temporaryHome(t);
  const run = startTrainyard(home, [...long, '--epochs', '5000', '--json']);
  await run.event('epoch');
  assert.equal((await lastEvent(home, 'pause', '1')).state, 'paused');
  const { progress: before } = await lastEvent(home, 'show', '1');
  await seconds(0.5);
  const { progress: after } = await lastEvent(home, 'show', '1');
  assert.deepEqual(after, before, 'a paused run does not move');
  assert.equal((await lastEvent(home, 'resume', '1')).state, 'running');
  assert.equal((await lastEvent(home, 'stop', '1')).state, 'stopped');
  const { code, events } = await run.finished;
  assert.equal(code, 0);
  const last = events.at(-1)!;
  assert.deepEqual([last.event, last.reason], ['finished', 'stopped']);
});

test('Ctrl-C, pressed again and again, stops a run and keeps its best weights', async (t) => {
  const home = temporaryHome(t);
  const run = startTrainyard(home, [...long, '--epochs', '5000', '--json']);
  await run.event('epoch');
  const presses = setInterval(() => run.child.kill('SIGINT'), 5);
  const { code, stderr } = await run.finished;
  clearInterval(presses);
  // 130 where ending took so long that the presses counted as more than one.
  assert.match(`${code} ${stderr}`, /^(0 Stops run 1 [^\n]*\n|130 Stops run 1 [^]* was stopped at once)/);
  assert.equal((await lastEvent(home, 'show', '1')).state, 'stopped');
  assert.equal((await trainyard(home, 'predict', '1', digits, '--json')).code, 0);
});

test('a signal stops a run under npm as well, and an import without a trace', async (t) => {
  const home = temporaryHome(t);
  // npm's shell does not pass a signal on, and only two of them ever reach it.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const run = startTrainyard(home, [...long, '--epochs', '5000', '--name', signal, '--json'], npm);
    const started = await run.event('started');
    run.child.kill(signal);
    const stateOf = async () => (await lastEvent(home, 'show', String(started.run))).state;
    for (let tries = 0; (await stateOf()) === 'running' && tries < 50; tries++) await seconds(0.1);
    assert.equal(await stateOf(), 'stopped', signal);
  }
  const direct = startTrainyard(home, [...long, '--epochs', '5000', '--json']);
  await direct.event('epoch');
  direct.child.kill('SIGHUP');
  const { code, events } = await direct.finished;
  assert.deepEqual([code, events.at(-1)?.reason], [0, 'stopped']);

  const table = path.join(home, 'large.csv');
  writeFileSync(table, `a,b\n${Array.from({ length: 2_000_000 }, (_, i) => `${i},${i % 2}\n`).join('')}`);
  const reading = startTrainyard(home, ['inspect', table, '--json']);
  const working = () => readdirSync(path.join(home, 'datasets')).some((name) => name.startsWith('.importing'));
  while (!working()) await seconds(0.01);
  reading.child.kill('SIGTERM');
  const ended = await reading.finished;
  assert.deepEqual([ended.code, ended.stderr, ended.stdout], [143, 'trainyard: Cancelled.\n', '']);
  assert.equal(working(), false);
});

test('kill -9 in mid-run: the run shows as interrupted and continues on the same curve', async (t) => {
  const home = temporaryHome(t);
  const args = [...long, '--epochs', '80', '--seed', '3', '--json'];
  const whole = await lastEvent(home, ...args.slice(0, -1));
  const run = startTrainyard(home, args);
  await run.event('epoch');
  while (!(await lastEvent(home, 'show', '2')).hasCheckpoint) await seconds(0.05);
  run.child.kill('SIGKILL');
  const { events } = await run.finished;
  assert.notEqual(events.at(-1)?.event, 'finished', 'it was killed in time');
  assert.equal((await lastEvent(home, 'show', '2')).state, 'interrupted');

  const resumed = await lastEvent(home, 'train', '--resume', '2');
  assert.equal(resumed.event, 'finished');
  assert.deepEqual(resumed.metrics, whole.metrics);
  const curve = async (id: string) =>
    (await trainyard(home, 'show', id, '--metrics', '--json')).events
      .filter((event) => event.event === 'metric' && event.series === 'val_loss')
      .map((event) => [event.step, event.value]);
  assert.deepEqual(await curve('2'), await curve('1'));
});

test('two processes train on one home at the same time', async (t) => {
  const home = temporaryHome(t);
  const small = ['train', path.join(tables, 'iris.csv'), '--epochs', '30'];
  const results = await Promise.all([1, 2, 3].map((seed) => lastEvent(home, ...small, '--seed', String(seed))));
  assert.ok(results.every((result) => result.event === 'finished'));
  const { events } = await trainyard(home, 'runs', '--json');
  assert.deepEqual(events.map((event) => event.run).sort(), [1, 2, 3]);
  assert.ok(events.every((event) => event.state === 'completed'));
});
