// Several devices on one model, and what past runs waited for: both against sums done by hand.

import assert from 'node:assert/strict';
import test from 'node:test';
import { advise } from '../../engine/hardware/advice/advise.ts';
import { factsOf } from '../../engine/hardware/advice/from-forecast.ts';
import type { DeviceFact } from '../../engine/hardware/advice/facts.ts';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { forecast } from '../../engine/hardware/forecast.ts';
import { linkOf, quickest, several, severalOn, splitOf, usualLinks } from '../../engine/hardware/several.ts';
import { waitingOf } from '../../engine/hardware/waiting.ts';
import type { BilledRun, PhaseSeconds } from '../../engine/protocol/bill.ts';

const { catalogue } = readCatalogue();
const textbook = { precision: 'float32', optimizer: 'adam' } as const;
const resnet = subjectNamed('resnet50', { batch: 256 }).costs(256);
/** 256 images at 1,200 a second. */
const step = { seconds: 256 / 1200, low: 0, high: 1, by: { convolution: 256 / 1200 } };
const on = (bandwidth: number, more = {}) =>
  several({ costs: resnet, step, textbook, memoryBytes: 80e9, link: { name: 'wire', bandwidth }, most: 8, ...more });

test('ResNet-50 on 8: 99.4, 96.0 and 56.7 % at 130, 20 and 1.1 GB/s, each with a batch of its own', () => {
  for (const [bandwidth, milliseconds, efficiency] of [
    [130e9, 1.38, 99.4],
    [20e9, 8.94, 96.0],
    [1.1e9, 163, 56.7],
  ] as const) {
    const { summing, grown } = on(bandwidth, { inputRate: 1e6 }).points[7];
    assert.ok(Math.abs((1000 * summing) / milliseconds - 1) < 0.005, `${1000 * summing} ms`);
    assert.equal((100 * grown).toFixed(1), efficiency.toFixed(1));
  }
});

test('where to stop: by efficiency, by the input, by the critical batch', () => {
  assert.equal(on(130e9, { inputRate: 1e6 }).worthShared, 8);
  assert.equal(on(1.1e9, { inputRate: 1e6 }).worthShared, 1);
  const starved = on(130e9, { inputRate: 3600 });
  assert.ok(starved.points[7].speedup < 3.01 && starved.points[7].input > 0);
  assert.equal(starved.worthShared, 4, '3 of 4 are 75 %, 3 of 5 only 60');
  // At B = B_crit on one, 8 times that takes 9/2 as many examples: of 8 devices 16/9 are progress.
  const large = on(1e15, { inputRate: 1e9, criticalBatch: 256 });
  assert.ok(Math.abs(large.points[7].useful - 2 / 9) < 1e-6);
  assert.equal(large.worthGrown, 1);
});

test('starting calls and the update do not divide', () => {
  const halves = { seconds: 0.2, low: 0, high: 1, by: { convolution: 0.1, launch: 0.06, update: 0.04 } };
  const { points } = on(1e15, { step: halves, inputRate: 1e9 });
  assert.ok(Math.abs(points[1].speedup - 1 / 0.75) < 1e-5);
});

test('nothing is split that fits; the batch is before the states, the states before the model', () => {
  const bert = subjectNamed('bert-large', {}).costs(32);
  const gpt = subjectNamed('gpt3', {}).costs(1);
  const what = (costs: typeof bert, gigabytes: number) => splitOf({ costs, textbook, memoryBytes: 1e9 * gigabytes });
  assert.equal(what(bert, 141).what, 'nothing');
  assert.equal(what(bert, 24).what, 'batch');
  const shared = what(bert, 6);
  assert.ok(shared.what === 'states' && shared.stage >= 1 && shared.devices >= 2, JSON.stringify(shared));
  assert.equal(what(gpt, 80).what, 'model', 'an example of GPT-3 keeps 275 GB');
  assert.equal(splitOf({ costs: gpt, textbook, memoryBytes: null }).what, 'nothing');
});

test('a card is joined by its own link where its sheet has one, else by PCIe 4', () => {
  const row = (id: string) => catalogue.devices.find((device) => device.id === id);
  assert.ok(Math.abs(linkOf(row('rtx-4090')).bandwidth / 20e9 - 1) < 0.01);
  assert.deepEqual(linkOf(undefined), usualLinks[1]);
  const { name, bandwidth } = linkOf(row('h100-sxm'));
  assert.match(name, /H100/);
  assert.ok(Math.abs(bandwidth / 366e9 - 1) < 0.01, String(bandwidth));
});

const subject = subjectNamed('resnet50', { batch: 256 });
const found = forecast(subject, { ...textbook, catalogue, tariff: 0.18, grid: 400 });
const cpu: DeviceFact = {
  id: 'cpu',
  name: 'this CPU',
  kind: 'cpu',
  use: 'training',
  seconds: { low: 5e6, middle: 6e6, high: 7e6 },
  memory: 64e9,
};
const asked = {
  forecast: found,
  catalogue,
  epochs: 90,
  rows: subject.rows,
  batch: 256,
  costsAt: subject.costs,
  cpu,
  tariff: 0.18,
  now: 0,
};

test('advice reckons with the same', () => {
  const facts = factsOf(asked);
  const device = found.devices.find(({ name }) => name === facts.several!.on)!;
  const same = severalOn(
    found,
    device,
    catalogue.devices.find(({ id }) => id === device.id),
    { most: 8 },
  );
  assert.deepEqual(
    facts.efficiencies,
    same.points.map(({ efficiency }) => efficiency),
  );
  assert.ok(quickest(found, catalogue)!.fits);
});

const now = Date.UTC(2026, 10, 22);
const run = (number: number, phases: PhaseSeconds, daysAgo = 1): BilledRun => ({
  run: number,
  device: 'cpu',
  startedAt: now - daysAgo * 24 * 3600 * 1000,
  secondsElapsed: 100,
  bill: { phases, cpuSeconds: 0, gpuSeconds: 0 },
});

test('what past runs waited for is a fact of advice, with its number', () => {
  const runs = [
    run(1, { data: 30, training: 60, checkpoints: 10 }),
    run(2, { data: 0, training: 10, validation: 10 }),
    run(3, { training: 1e6 }),
    run(4, { data: 1e6, training: 1 }, 200),
  ];
  const all = waitingOf(runs, now)!;
  assert.deepEqual([all.runs, all.data, all.checkpoints], [2, 0.3, 10 / 120]);
  assert.equal(waitingOf(runs, now, 2)!.data, 0);
  assert.equal(waitingOf(runs.slice(2), now), null, 'bills of old, and runs of long ago, say nothing');
  assert.equal(waitingOf([run(5, { data: 1, training: 1 })], now), null, 'two seconds say nothing');
  const said = advise({}, factsOf({ ...asked, waiting: all }));
  const reasonOf = (rule: string) => said.find((given) => given.rule === rule)?.reasons[0];
  assert.match(
    reasonOf('data-waits')!.text,
    /^30 % of the training of the last 2 runs waited for rows: .*not a faster/,
  );
  assert.equal(reasonOf('data-waits')!.value, 0.3);
  assert.match(reasonOf('checkpoints-hold')!.text, /^8 % of the work of the last 2 runs went into checkpoints/);
  assert.ok(advise({}, factsOf(asked)).every(({ rule }) => rule !== 'data-waits' && rule !== 'checkpoints-hold'));
});
