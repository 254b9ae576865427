// This machine as forecasts see it, and the line of a new run: guessed until a lab has measured it, and said which.

import assert from 'node:assert/strict';
import test from 'node:test';
import { labFactors } from '../../engine/bench/calibrated.ts';
import { addonRatio, addonRemedy } from '../../engine/hardware/addon.ts';
import { advise } from '../../engine/hardware/advice/advise.ts';
import { factHere, factsOf } from '../../engine/hardware/advice/from-forecast.ts';
import { standardRules, withThresholds } from '../../engine/hardware/advice/rules.ts';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { forecast } from '../../engine/hardware/forecast.ts';
import { labOfMachine, machineDevices, type KnownMachine } from '../../engine/hardware/machine.ts';
import { about, runLine } from '../../engine/hardware/run-line.ts';
import { aroundRuns, runSeconds, usualAround } from '../../engine/hardware/run-time.ts';
import { byMonth, hoursPerWeek } from '../../engine/hardware/use.ts';
import { createStore } from '../../engine/history/store.ts';
import { phases, secondsOfPhases } from '../../engine/protocol/bill.ts';
import type { LabDevice, LabResult, Sample } from '../../engine/protocol/lab.ts';
import { temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

const { catalogue } = readCatalogue();
const samples = (...pairs: readonly (readonly [number, number])[]): Sample[] =>
  pairs.map(([at, median]) => ({ at, value: { median, low: median, high: median, calls: 15 } }));
const cpu: LabDevice = {
  id: 'cpu',
  kind: 'cpu',
  name: 'a CPU',
  threads: 4,
  software: false,
  products: samples([16, 5], [1024, 200]),
  copy: samples([4e6, 80], [1e9, 40]),
  triad: [],
  latencies: [{ name: 'call', microseconds: samples([1, 1])[0].value }],
  workloads: [{ name: 'mlp', unit: 'ms/step', milliseconds: samples([1, 20])[0].value }],
};
const gpu: LabDevice = { ...cpu, id: 'gpu-0', kind: 'gpu', name: 'a GPU', products: samples([16, 1], [1024, 8000]) };
const lab = (...devices: readonly LabDevice[]): LabResult => ({ ...exampleLab(1000), devices });
const known: KnownMachine = { lab: null, cores: 2, memoryBytes: 8e9, gpu: null, catalogue };
const ask = (name: string, batch = 32) => ({ costs: subjectNamed(name, {}).costs(batch), rows: 10_000, epochs: 10 });

test('a machine is guessed until it is measured, and an adapter in software is none', () => {
  const [guessed, ...none] = machineDevices({ ...known, lab: lab({ ...gpu, software: true }) });
  assert.deepEqual([guessed.measured, none.length], [false, 0]);
  assert.ok(guessed.timed.doubt > 2, 'what is guessed is said to be doubtful');
  const [measured, card] = machineDevices({ ...known, lab: lab(cpu, gpu) });
  assert.deepEqual([measured.measured, card.measured, card.kind], [true, true, 'gpu']);
  const [, named] = machineDevices({ ...known, gpu: 'NVIDIA GeForce RTX 4090 (Vulkan)' });
  assert.deepEqual([named.measured, named.memoryBytes], [false, 24e9]);
});

test('a missing addon costs what the lab measured step by step, else what the benchmarks did', () => {
  assert.deepEqual(addonRatio(null), { ratio: 2.5, measured: false });
  const lab = exampleLab();
  assert.deepEqual(addonRatio(lab), { ratio: 2.5, measured: false }, 'it measured one way alone');
  const step = (name: string, median: number): LabDevice['workloads'][number] => ({
    name,
    unit: 'ms/step',
    milliseconds: { median, low: median, high: median, calls: 15 },
  });
  const [native] = lab.devices;
  const devices = [
    { ...native, workloads: [step('mlp', 2), step('mnist-cnn', 10), step('resnet20', 50), step('other', 1)] },
    { ...native, id: 'cpu-wasm', workloads: [step('resnet20', 100), step('mlp', 5), step('mnist-cnn', 40)] },
  ];
  assert.deepEqual(addonRatio({ ...lab, devices }), { ratio: 2.5, measured: true });
});

test('a card here holds what the same card of the catalogue does', () => {
  const here = machineDevices({ ...known, gpu: 'NVIDIA GeForce RTX 4090 (Vulkan)' });
  const options = { precision: 'float32', catalogue, here, tariff: 0.2, grid: 400 } as const;
  const ask = (batch: number) => {
    const found = forecast(subjectNamed('resnet50', { batch }), options);
    const [mine, listed] = ['here-gpu-0', 'rtx-4090'].map((id) => found.devices.find((device) => device.id === id)!);
    return { found, mine, listed };
  };
  const { found } = ask(32);
  const most = found.largestBatch.find(({ bytes }) => bytes === 24e9)!.batch;
  for (const [batch, fits] of [
    [most, true],
    [most + 8, false],
  ] as const) {
    const asked = ask(batch);
    assert.deepEqual([asked.mine.fits, asked.listed.fits], [fits, fits], String(batch));
  }
});

test('the training steps of a lab calibrate it', () => {
  const factors = labFactors(cpu)!;
  const slow = labFactors({ ...cpu, workloads: [{ ...cpu.workloads[0], milliseconds: samples([1, 200])[0].value }] })!;
  assert.ok(slow.product > 2 * factors.product);
  assert.equal(labFactors(cpu), factors, 'fitted once');
  assert.equal(labFactors({ ...cpu, workloads: [] }), undefined);
});

test('a short run stays on the CPU, a long one names a card; thresholds decide', () => {
  const short = runLine(ask('small'), machineDevices({ ...known, lab: lab(cpu) }), catalogue);
  assert.match(short.text, /^CPU: .*; a GPU would not help$/);
  assert.equal(short.basis, 'Forecast from the last lab.');
  const long = { ...ask('resnet50'), rows: 1e6 };
  const far = runLine(long, machineDevices(known), catalogue);
  assert.match(far.text, /^About .* here, .* on an RTX 4090$/);
  assert.match(far.basis, /has not been measured/);
  assert.ok(far.helps);
  const both = runLine(long, machineDevices({ ...known, lab: lab(cpu, gpu) }), catalogue);
  assert.match(both.text, /^GPU: .*; the CPU takes /);
  const hard = withThresholds({ 'below-crossover.speedup': 1e6 }, standardRules);
  assert.match(
    runLine(long, machineDevices({ ...known, lab: lab(cpu, gpu) }), catalogue, { rules: hard }).text,
    /would not help$/,
  );
  // Of a device chosen by hand its time is told, be it the slower one or software.
  const devices = machineDevices({ ...known, lab: lab(cpu, gpu) });
  const byHand = runLine(ask('small'), devices, catalogue, { chosen: devices[1] });
  assert.match(byHand.text, /^GPU: .*; the CPU takes /);
  assert.deepEqual(byHand.seconds, runSeconds(ask('small'), devices[1]));
  const emulated = { ...devices[1], software: true };
  const slow = runLine(ask('small'), [devices[0]], catalogue, { chosen: emulated });
  assert.match(slow.text, /^GPU in software, for testing: .*; the CPU takes /);
  assert.deepEqual(slow.seconds, byHand.seconds);
  const untimed = runLine(ask('small'), [devices[0]], catalogue, { chosen: 'software' });
  assert.match(untimed.text, /^CPU: .*; the GPU chosen is software, for testing: no lab has timed it here$/);
  assert.deepEqual(
    [1, 5000, 20_000, 1e6, 8.9e9].map((seconds) => about([seconds, seconds])),
    ['1\u00a0s', '83\u00a0min', '5.6\u00a0h', '12\u00a0days', '282\u00a0years'],
  );
});

test('a run is forecast from its start to its end: steps, validation, and what past runs took around them', () => {
  const [device] = machineDevices({ ...known, lab: lab(cpu) });
  const bill = (startedAt: number, preparing: number, device = 'cpu') => ({
    startedAt,
    device,
    bill: { phases: { preparing, starting: 0.1, training: 9, validation: 2 }, cpuSeconds: 1, gpuSeconds: 0 },
  });
  assert.deepEqual(aroundRuns([]), usualAround);
  assert.deepEqual(aroundRuns([{ startedAt: 1, device: 'cpu', bill: null }]), usualAround);
  assert.ok(Math.abs(aroundRuns([bill(1, 0.4), bill(2, 5), bill(3, 0.2)]).cpu - 0.5) < 1e-9);
  const started = aroundRuns([bill(1, 0.4), bill(2, 13.9, 'gpu'), bill(3, 13.9, 'gpu')]);
  assert.ok(Math.abs(started.cpu - 0.5) < 1e-9, 'what a GPU takes to start is nothing that a CPU waits for');
  assert.ok(Math.abs(started.gpu - 14) < 1e-9);
  assert.ok(Math.abs(secondsOfPhases(bill(1, 0.4).bill.phases) - 11.5) < 1e-9);
  const each = Object.fromEntries(phases.map((phase, i) => [phase, 2 ** i]));
  assert.equal(secondsOfPhases(each), 2 ** phases.length - 1, 'none is left out, that of reading rows neither');
  const asked = ask('small');
  const [low] = runSeconds(asked, device);
  const [around] = runSeconds({ ...asked, around: { cpu: 13, gpu: 0 } }, device);
  assert.ok(Math.abs(around - low - 10) < 1e-9, 'with the doubt of the device');
  const [looked] = runSeconds({ ...asked, validation: asked.rows }, device);
  assert.ok(looked > low && looked < 2 * low, 'a look forwards takes less than training');
  assert.match(runLine({ ...asked, around: { cpu: 600, gpu: 0 } }, [device], catalogue).text, /^CPU: 10\u00a0min/);
});

test('what may be cut off is advised to be, from the facts of a forecast alone', () => {
  const options = { precision: 'mixed16', catalogue, tariff: 0.2, grid: 400 } as const;
  const [device] = machineDevices(known);
  const advised = (name: string, interruptible: boolean) => {
    const subject = subjectNamed(name, {});
    const { rows, batch } = subject;
    const found = forecast(subject, options);
    assert.equal(found.own, undefined, 'nothing is planned for a machine that was not asked about');
    const asked = { forecast: found, catalogue, epochs: 90, rows, batch, costsAt: subject.costs, tariff: 0.2, now: 0 };
    return advise({ interruptible }, factsOf({ ...asked, cpu: factHere(device, asked) }));
  };
  const spot = advised('resnet50', true).find(({ rule }) => rule === 'spot')!;
  assert.match(
    spot.reasons[0].text,
    /^\d.* USD an hour of work, lost work counted at an interruption every 10 h: \d+ %/,
  );
  assert.ok(spot.reasons[0].value! < 0.7);
  assert.ok(advised('resnet50', false).every(({ rule }) => rule !== 'spot'));
});

test('renting costs the same in the forecast and in the facts of advice', () => {
  const options = { precision: 'mixed16', catalogue, tariff: 0.2, grid: 400 } as const;
  const subject = subjectNamed('resnet50', {});
  const { rows, batch } = subject;
  const said = forecast(subject, options);
  const asked = { forecast: said, catalogue, epochs: 10, rows, batch, costsAt: subject.costs, tariff: 0.2, now: 0 };
  const [device] = machineDevices(known);
  const fact = factsOf({ ...asked, cpu: factHere(device, asked) }).others.find(({ id }) => id === 'rtx-4090')!;
  const money = (fact.seconds.middle / 3600) * fact.rent!.perHour;
  const { cost } = said.devices.find(({ id }) => id === 'rtx-4090')!;
  assert.ok(Math.abs((10 * cost!) / money - 1) < 1e-9, `${cost} an epoch, ${money} for ten`);
});

test('hours a week and months come from the bills', () => {
  const week = 7 * 24 * 3600 * 1000;
  const run = (startedAt: number, secondsElapsed: number) => ({
    run: 1,
    device: 'cpu',
    startedAt,
    secondsElapsed,
    bill: null,
  });
  assert.equal(hoursPerWeek([], 10 * week), undefined);
  assert.equal(hoursPerWeek([run(8.5 * week, 3600), run(9.5 * week, 7200)], 10 * week), 1.5);
  const months = byMonth([run(new Date(2026, 0, 31).getTime(), 1), run(new Date(2026, 1, 1).getTime(), 1)]);
  assert.deepEqual(
    months.map(({ month }) => month),
    ['2026-01', '2026-02'],
  );
});

test('the command advises by the last lab of this machine and by the thresholds of a file', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  await store.addLab({ result: lab(cpu, gpu), imported: false });
  store.close();
  const { writeFileSync } = await import('node:fs');
  const [rules, broken] = [`${home}/rules.json`, `${home}/broken.json`];
  writeFileSync(rules, '{"below-crossover.speedup": 100000}');
  writeFileSync(broken, '{"below-crossover.luck": 1}');
  // A batch whose memory a run here can have: this CPU is an answer.
  const ask = ['advise', '--model', 'resnet50', '--batch', '8', '--json'];
  const [plain, changed, wrong] = await Promise.all([
    trainyard(home, ...ask),
    trainyard(home, ...ask, '--rules', rules),
    trainyard(home, ...ask, '--rules', broken),
  ]);
  assert.equal(plain.code, 0, plain.stderr);
  const first = ({ events }: typeof plain): unknown =>
    (events[0] as { recommendations: { rule: string }[] }).recommendations.map(({ rule }) => rule);
  assert.ok((first(plain) as string[]).includes('this-gpu') && !(first(plain) as string[]).includes('measure-first'));
  assert.equal((first(changed) as string[])[0], 'below-crossover');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /no threshold below-crossover\.luck/);
});

test('a short lab does not take the place of a long one, unless that is much older or of other devices', () => {
  const now = Date.UTC(2026, 10, 20);
  const day = 86_400_000;
  const lab = (id: number, days: number, seconds: number, devices = ['cpu', 'gpu-0'], imported = false) => ({
    ...{ id, seconds, devices, imported },
    ...{ machine: 'desk', startedAt: now - days * day },
  });
  const chosen = (...labs: readonly ReturnType<typeof lab>[]): number | null => labOfMachine(labs)?.id ?? null;
  assert.equal(chosen(), null);
  assert.equal(chosen(lab(1, 0, 60, undefined, true)), null, 'of another machine');
  assert.equal(chosen(lab(2, 0, 20), lab(1, 1, 61)), 1);
  assert.equal(chosen(lab(3, 0, 20), lab(2, 0, 55), lab(1, 1, 61)), 2, 'as long as makes no difference');
  assert.equal(chosen(lab(2, 0, 20), lab(1, 40, 61)), 2, 'a month later things have changed');
  assert.equal(chosen(lab(2, 0, 20), lab(1, 1, 61, ['cpu'])), 2, 'a GPU has come');
});

test('several devices pay where a step is work, not where it is starts and waiting', () => {
  const efficiencies = (name: string, batch: number): readonly number[] => {
    const subject = subjectNamed(name, { batch });
    const made = forecast(subject, { precision: 'float32', catalogue, tariff: 0.2, grid: 400 });
    const here = machineDevices({ ...known, catalogue });
    const of = { forecast: made, catalogue, epochs: 10, rows: subject.rows, batch, costsAt: subject.costs };
    return factsOf({ ...of, cpu: factHere(here[0], of), tariff: 0.2, now: 0 }).efficiencies!;
  };
  assert.ok(efficiencies('small', 32)[1] < 0.6, 'a second device for a small network');
  assert.ok(efficiencies('resnet50', 256)[2] > 0.7, 'three for ResNet-50');
});

test('a batch that does not fit is computed in parts: only where two rows do not fit either is this CPU left out', () => {
  const here = machineDevices(known);
  const subject = subjectNamed('resnet18', { batch: 64, rows: 10_000 });
  const found = forecast(subject, { precision: 'float32', catalogue, here, tariff: 0.2, grid: 400 });
  const { total, activations, workspace } = found.own!;
  const least = total - (activations + workspace) * (62 / 64);
  const at = (memoryBytes: number) => {
    const devices = found.devices.map((device) =>
      device.id === 'here-cpu' ? { ...device, memoryBytes, fits: total <= memoryBytes } : device,
    );
    const of = {
      forecast: { ...found, devices },
      catalogue,
      epochs: 1,
      rows: 10_000,
      batch: 64,
      costsAt: subject.costs,
    };
    return factsOf({ ...of, cpu: factHere(here[0], of), tariff: 0.2, now: 0 }).cpuFits;
  };
  assert.ok(least < 0.5 * total, 'most of it goes by the batch');
  assert.deepEqual([total, total - 1, 1.01 * least, 0.99 * least].map(at), [true, true, true, false]);
});

test('what brings the addon back: the variable that leaves it out, else another installation', () => {
  assert.match(addonRemedy('0'), /TRAINYARD_NATIVE is 0.*unset it/);
  for (const wish of [undefined, '', 'avx2']) assert.match(addonRemedy(wish), /^Install Trainyard again, or/);
});
