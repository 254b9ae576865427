// What runs cost: phases, processor time and energy, over all attempts, and the processor's meter.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { ownEpochs } from '../../engine/hardware/run-time.ts';
import { phases } from '../../engine/protocol/bill.ts';
import { Bill } from '../../engine/runs/bill.ts';
import type { RunHosts } from '../../engine/runs/hosts.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { startEnergyMeter } from '../../engine/system/energy.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, tableConfig } from './fixtures/training.ts';

/** Of bills whose hosts tell all. */
const still = (): number => 0;

test('attempts add up; a host tells all it has spent each time, not what is new', () => {
  let joules = 0;
  const first = new Bill(undefined, () => () => joules, still);
  first.add('preparing', 500);
  first.add('starting', 250);
  first.began({ device: 'cpu', name: 'a CPU', bytes: 1000 });
  first.spent({ phases: { preparing: 0.2, training: 1 }, cpuSeconds: 2, peakBytes: 50 });
  first.spent({ phases: { preparing: 0.2, training: 3, validation: 1 }, cpuSeconds: 5, peakBytes: 60 });
  joules = 90;
  const bill = first.total;
  assert.deepEqual(bill, {
    phases: { preparing: 0.5, starting: 0.25, training: 3, validation: 1 },
    cpuSeconds: 5,
    gpuSeconds: 0,
    joules: 90,
    deviceBytes: 1000,
    deviceName: 'a CPU',
    peakBytes: 60,
  });

  const second = new Bill(bill, () => () => 10, still);
  second.began({ device: 'gpu', name: 'a GPU', bytes: 400 });
  second.spent({ phases: { training: 2, checkpoints: 0.5 } });
  assert.deepEqual(second.total, {
    phases: { preparing: 0.5, starting: 0.25, training: 5, validation: 1, checkpoints: 0.5 },
    cpuSeconds: 5,
    gpuSeconds: 2.5,
    joules: 100,
    deviceBytes: 400,
    deviceName: 'a GPU',
    peakBytes: 60,
  });
});

test('energy of some attempts alone is not told as that of the run', () => {
  const unmeasured = new Bill(undefined, () => null, still);
  assert.equal('joules' in unmeasured.total, false);
  assert.equal('joules' in new Bill(unmeasured.total, () => () => 10, still).total, false);
  const stopsAnswering = new Bill({ ...unmeasured.total, joules: 5 }, () => () => null, still);
  assert.equal('joules' in stopsAnswering.total, false);
});

test('what a host does after its last report is spent too, until it dies or is ended', () => {
  let seconds = 10;
  const bill = new Bill(
    undefined,
    () => null,
    () => seconds,
  );
  bill.add('preparing', 1000);
  bill.add('starting', 2000);
  bill.began({ device: 'gpu', name: 'a GPU', bytes: 1 });
  seconds = 20;
  bill.spent({ phases: { preparing: 1, training: 3, validation: 1 }, cpuSeconds: 10, peakBytes: 60 });
  seconds = 24;
  assert.equal(bill.total.phases.training, 3, 'it may tell yet');
  bill.lost();
  // What comes after its end is tidying up.
  seconds = 99;
  bill.lost();
  const { phases: spent, cpuSeconds, gpuSeconds } = bill.total;
  assert.deepEqual(spent, { preparing: 1, starting: 2, training: 7, validation: 1 });
  assert.deepEqual([cpuSeconds, gpuSeconds], [10 + (10 / 5) * 4, 8], 'at the rate of what it told');

  const after = new Bill(
    bill.total,
    () => null,
    () => seconds,
  );
  after.add('preparing', 0);
  after.add('starting', 0);
  after.spent({ phases: { training: 1 }, cpuSeconds: 1 });
  seconds += 5;
  assert.equal(after.total.phases.training, 8, 'and a host that ends as it should has told all');
});

test('one that ends before any report: what it was about is known', () => {
  for (const [done, expected, processor] of [
    [[], { preparing: 4 }, 0],
    [['preparing'], { preparing: 1, starting: 4 }, 0],
    [['preparing', 'starting'], { preparing: 1, starting: 1, training: 4 }, 4],
  ] as const) {
    let seconds = 0;
    const bill = new Bill(
      undefined,
      () => null,
      () => seconds,
    );
    for (const phase of done) bill.add(phase, 1000);
    seconds += 4;
    bill.lost();
    assert.deepEqual(bill.total, { phases: expected, cpuSeconds: processor, gpuSeconds: 0 });
  }
});

test('what the processor takes during a pause is not the run’s', () => {
  let joules = 0;
  const bill = new Bill(undefined, () => () => joules, still);
  joules = 10;
  bill.resume();
  bill.pause();
  joules = 500;
  bill.pause();
  assert.equal(bill.total.joules, 10);
  bill.resume();
  joules = 507;
  bill.resume();
  assert.equal(bill.total.joules, 17);
  bill.pause();
  joules = 1000;
  assert.equal(bill.total.joules, 17, 'a run that ends while it pauses');
});

test('a run that pauses pays for nothing meanwhile', async (context) => {
  const store = createStore(temporaryHome(context));
  let joules = 0;
  const hosts = createTableHosts({ breathe: () => new Promise((resolve) => setTimeout(resolve, 2)) });
  const meter = (): (() => number) => () => joules;
  const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner(), meter });
  context.after(() => store.close());
  const { id: run } = await manager.start({ config: tableConfig(1000) });
  const reaches = async (state: string): Promise<void> => {
    while ((await store.run({ run })).state !== state) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await reaches('running');
  await manager.pause({ run });
  await reaches('paused');
  joules += 1e6;
  await manager.continue({ run });
  await reaches('running');
  await manager.stop({ run });
  const { progress } = await manager.finished({ run });
  assert.equal(progress!.bill!.joules, 0);
});

test('a run whose host dies before its first report has a bill', async (context) => {
  const store = createStore(temporaryHome(context));
  const working = createTableHosts();
  const hosts: RunHosts = {
    async create(device) {
      const made = await working.create(device);
      const silent = { ...made.host, train: () => new Promise<never>(() => undefined) };
      const exited = new Promise<string>((resolve) => setTimeout(() => resolve('it was killed'), 50));
      return { ...made, host: silent, exited };
    },
  };
  const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner(), meter: () => null });
  context.after(() => store.close());
  const { id: run } = await manager.start({ config: tableConfig(20) });
  const { state, progress } = await manager.finished({ run });
  assert.deepEqual([state, progress?.epoch, progress?.epochs], ['failed', 0, 20]);
  const { preparing, starting } = progress!.bill!.phases;
  assert.ok(preparing! > 0 && starting! >= 0.045, `${preparing}, ${starting}`);
  assert.equal((await store.bills()).length, 1);
});

test('phases add up to the time at work', async (context) => {
  const store = createStore(temporaryHome(context));
  const manager = createRunManager({
    store,
    data: createTableData(),
    hosts: createTableHosts(),
    owner: processOwner(),
    meter: () => null,
  });
  context.after(() => store.close());
  const { id: run } = await manager.start({ config: tableConfig(200) });
  const { progress, result } = await manager.finished({ run });
  const { bill, secondsElapsed } = progress!;
  const spent = phases.reduce((sum, phase) => sum + (bill!.phases[phase] ?? 0), 0);
  assert.ok(spent <= secondsElapsed * 1.02 + 0.05, `${spent} s of ${secondsElapsed} s`);
  for (const phase of ['preparing', 'starting', 'training', 'validation', 'scoring', 'baseline'] as const)
    assert.ok(bill!.phases[phase]! > 0, phase);
  assert.ok(bill!.deviceBytes! > 0);
  assert.equal('spent' in result!, false, 'it stands in the bill alone');
  assert.equal('joules' in bill!, false);
});

function zone(folder: string, name: string, files: Readonly<Record<string, string>>): void {
  fs.mkdirSync(path.join(folder, name), { recursive: true });
  for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name, file), text);
}

function meterFolder(context: TestContext): string {
  const folder = temporaryHome(context);
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

test('the meter sums packages, leaves out their parts and goes on after it has run over', (context) => {
  const folder = meterFolder(context);
  zone(folder, 'intel-rapl:0', { energy_uj: '9000000\n', max_energy_range_uj: '10000000\n' });
  zone(folder, 'intel-rapl:1', { energy_uj: '1000000\n', max_energy_range_uj: '10000000\n' });
  zone(folder, 'intel-rapl:0:0', { energy_uj: '5\n', max_energy_range_uj: '10\n' });
  zone(folder, 'intel-rapl', { enabled: '1\n' });
  const read = startEnergyMeter(folder)!;
  assert.equal(read(), 0);
  zone(folder, 'intel-rapl:0', { energy_uj: '9500000\n' });
  assert.equal(read(), 0.5);
  zone(folder, 'intel-rapl:0', { energy_uj: '2000000\n' });
  zone(folder, 'intel-rapl:1', { energy_uj: '4000000\n' });
  assert.equal(read(), 0.5 + 2.5 + 3);
  fs.rmSync(path.join(folder, 'intel-rapl:1'), { recursive: true });
  assert.equal(read(), null);
});

test('no meter, an empty one and one that may not be read are none', (context) => {
  const folder = meterFolder(context);
  assert.equal(startEnergyMeter(path.join(folder, 'none')), null);
  assert.equal(startEnergyMeter(folder), null);
  zone(folder, 'intel-rapl:0', { energy_uj: '12\n', max_energy_range_uj: '100\n' });
  zone(folder, 'intel-rapl:1', { energy_uj: 'no\n', max_energy_range_uj: '100\n' });
  assert.equal(startEnergyMeter(folder), null);
});

test('a run is forecast by the epochs it made itself', () => {
  const own = { relation: null, start: null };
  const continued = { relation: 'continued', start: { epoch: 6, step: 120, seconds: 1 } } as const;
  assert.equal(ownEpochs(continued, { epoch: 10, step: 200 }, 20), 4);
  assert.equal(ownEpochs(continued, { epoch: 10, step: 200 }), 4, 'trees');
  assert.equal(ownEpochs(own, { epoch: 0, step: 15 }, 20), 0.75, 'stopped within its first');
  const begun = { relation: 'started from', start: { epoch: 6, step: 120 } } as const;
  assert.equal(ownEpochs(begun, { epoch: 3, step: 60 }, 20), 3, 'with weights alone');
});
