// `forecast` and `crossover` as a person meets them: the contract of its lines, models by name, file and run, and what is wrong with bad input.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createStore } from '../../engine/history/store.ts';
import { electricityKey } from '../../engine/settings/electricity.ts';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

interface DeviceEvent {
  readonly id: string;
  readonly fits: boolean | null;
  readonly seconds_per_epoch: readonly [number, number];
  readonly kwh: number | null;
  readonly cost: number | null;
}

test('ResNet-50: parameters, memory, work and every device', async (context) => {
  const home = temporaryHome(context);
  const event = await lastEvent(home, 'forecast', '--model', 'resnet50', '--input', '3x224x224', '--batch', '32');
  assert.equal(event.event, 'forecast');
  assert.equal(event.parameters, 25_557_032);
  const memory = event.memory as Readonly<Record<string, number>>;
  assert.deepEqual(Object.keys(memory).toSorted(), ['activations', 'gradients', 'optimizer', 'parameters', 'total']);
  assert.equal(memory.parameters, 102_228_128);
  assert.equal(memory.optimizer, 2 * memory.parameters);
  assert.ok(Math.abs(memory.activations / 2.75e9 - 1) < 0.01);
  assert.equal(memory.total, memory.parameters + memory.gradients + memory.optimizer + memory.activations);
  assert.ok(Math.abs((event.flops_per_example as number) / 24.5e9 - 1) < 0.03);
  const devices = event.devices as readonly DeviceEvent[];
  assert.ok(devices.length >= 60);
  for (const { id, seconds_per_epoch: seconds, fits, cost } of devices) {
    assert.ok(seconds[0] > 0 && seconds[0] < seconds[1], id);
    assert.ok(fits === null || typeof fits === 'boolean', id);
    assert.ok(cost === null || cost > 0, id);
  }
});

test('16 bits and SGD take less, GPT-3 fits nowhere, a run goes by its own settings', async (context) => {
  const home = temporaryHome(context);
  const adam = await lastEvent(home, 'forecast', '--model', 'bert-base');
  const lean = await lastEvent(
    home,
    'forecast',
    '--model',
    'bert-base',
    '--precision',
    'mixed16',
    '--optimizer',
    'sgd',
  );
  const of = (event: Readonly<Record<string, unknown>>) => event.memory as Readonly<Record<string, number>>;
  assert.ok(of(lean).activations < 0.6 * of(adam).activations);
  assert.equal(of(lean).optimizer, of(adam).optimizer / 2);
  const large = await lastEvent(home, 'forecast', '--model', 'gpt3', '--batch', '1');
  const devices = large.devices as readonly DeviceEvent[];
  assert.ok(devices.filter(({ id }) => /^(rtx|h100|a100)/.test(id)).every(({ fits }) => fits === false));
  assert.ok(
    devices.every(({ fits }) => fits !== true),
    'whose memory nobody knows holds nothing for sure',
  );
  assert.equal(devices.find(({ id }) => id === 'raspberry-pi-5')!.fits, null);
});

test('for people: a calm table, this machine guessed until it is measured', async (context) => {
  const { code, stdout } = await trainyard(temporaryHome(context), 'forecast', '--model', 'small', '--rows', '5000');
  assert.equal(code, 0);
  assert.match(stdout, /^small: .* parameters/);
  assert.match(stdout, /^largest batch by PyTorch: .* in 8 GB.* in 80 GB$/m);
  assert.match(stdout, /^largest batch here, by Trainyard: 5,000$/m);
  assert.match(stdout, /\nhere: .* \(a guess\) .*\n/);
  assert.match(stdout, /This machine has not been measured: its row is a guess.*`trainyard lab`/);
});

test('this machine is as its newest lab measured it, at the electricity of the settings or of the flags', async (context) => {
  const home = temporaryHome(context);
  const ask = ['forecast', '--model', 'medium', '--rows', '100000'];
  const here = ({ devices }: Readonly<Record<string, unknown>>) =>
    (devices as readonly (DeviceEvent & { basis: string })[]).filter(({ id }) => id.startsWith('here-'));
  const [guessed] = here(await lastEvent(home, ...ask));
  assert.equal(guessed.basis, 'estimate');
  const [spread] = guessed.seconds_per_epoch.map((seconds) => guessed.seconds_per_epoch[1] / seconds);
  const store = createStore(home);
  await store.addLab({ result: exampleLab(2000), imported: false });
  await store.setSetting({ key: electricityKey, value: { tariff: 0.5, grid: 20 } });
  store.close();
  const measured = await lastEvent(home, ...ask);
  const [cpu] = here(measured);
  assert.equal(cpu.basis, 'here');
  assert.ok(cpu.seconds_per_epoch[1] / cpu.seconds_per_epoch[0] < spread / 2, 'a lab narrows the range');
  assert.deepEqual(measured.electricity, { tariff: 0.5, grid: 20 });
  assert.ok(Math.abs(cpu.cost! / (0.5 * cpu.kwh!) - 1) < 0.01);
  assert.ok((measured.largest_batch as Readonly<Record<string, number>>).here > 32);
  const cheap = await lastEvent(home, ...ask, '--tariff', '0.1');
  assert.deepEqual(cheap.electricity, { tariff: 0.1, grid: 20 });
  assert.ok(Math.abs(here(cheap)[0].cost! / cpu.cost! - 0.2) < 0.01);
  assert.deepEqual((await lastEvent(home, ...ask)).electricity, { tariff: 0.5, grid: 20 }, 'flags are for one call');
  const { stdout } = await trainyard(home, ...ask);
  assert.match(stdout, /This machine as the lab of .* measured it\./);
});

test('a run and the file it is exported to are forecast as they were trained', async (context) => {
  const home = temporaryHome(context);
  const file = path.join(home, 'model.json');
  const train = ['--target', 'species', '--epochs', '1', '--hidden', '24,12', '--batch', '16'];
  await lastEvent(home, 'train', penguins, ...train);
  await lastEvent(home, 'export', '1', '--format', 'json', '--out', file);
  const run = await lastEvent(home, 'forecast', '--model', '1');
  assert.deepEqual([run.batch, run.rows], [16, 275]);
  const shown = await lastEvent(home, 'show', '1');
  assert.equal(run.parameters, shown.parameters);
  const exported = await lastEvent(home, 'forecast', '--model', file, '--rows', '275');
  for (const name of ['parameters', 'batch', 'optimizer', 'memory', 'memory_here', 'flops_per_example']) {
    assert.deepEqual(exported[name], run[name], name);
  }
});

test('bad input is refused in a line', async (context) => {
  const home = temporaryHome(context);
  const damaged = path.join(home, 'damaged.json');
  writeFileSync(damaged, '{"version": 1, "layers": [{"type": "dens');
  const strange = path.join(home, 'strange.json');
  writeFileSync(strange, '{"version": 1, "layers": [{"type": "warp"}, {"type": "output"}]}');
  const wide = path.join(home, 'wide.json');
  const dense = { type: 'dense', units: 65_536 };
  writeFileSync(wide, JSON.stringify({ version: 1, layers: [dense, dense, { type: 'output' }] }));
  const deep = path.join(home, 'deep.json');
  const many = Array.from({ length: 20_000 }, () => ({ type: 'dense', units: 8 }));
  writeFileSync(deep, JSON.stringify({ version: 1, layers: [...many, { type: 'output' }] }));
  const cases: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [['--model', deep, '--input', '10'], /at most 1000 layers/],
    [[], /--model is missing/],
    [['--model', damaged], /is not JSON/],
    [['--model', strange], /no layer “warp”/],
    [['--model', wide], /too many to plan.*narrower/],
    [['--model', '7'], /7/],
    [['--model', 'resnet50', '--batch', '-4'], /--batch is “-4”\. It has to be a whole number/],
    [['--model', 'resnet50', '--input', '3xbig'], /--input is “3xbig”/],
  ];
  for (const [args, said] of cases) {
    const { code, stderr, stdout } = await trainyard(home, 'forecast', ...args, '--json');
    assert.notEqual(code, 0, args.join(' '));
    assert.match(stderr, said, args.join(' '));
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assert.equal(stdout, '');
  }
});

test('a damaged catalogue of one’s own is said, and the built-in one goes on', async (context) => {
  const home = temporaryHome(context);
  mkdirSync(path.join(home, 'hardware'));
  writeFileSync(path.join(home, 'hardware', 'catalogue.json'), '{"version": 1, "devices": [{"id": 3}]}');
  const { code, stderr, events } = await trainyard(home, 'forecast', '--model', 'small', '--json');
  assert.equal(code, 0);
  assert.match(stderr, /catalogue\.json: Line 1, field `devices\[0\]/);
  assert.ok((events[0].devices as readonly unknown[]).length >= 60);
});

test('several devices: how fast, how efficient, where to stop, and what has to be split', async (context) => {
  const home = temporaryHome(context);
  const ask = ['forecast', '--model', 'resnet50', '--batch', '256', '--devices', '8', '--on', 'a100-80gb'];
  interface Said {
    readonly gb_s: number;
    readonly worth_shared: number;
    readonly worth_grown: number;
    readonly split: { readonly what: string };
    readonly points: readonly { readonly efficiency: number; readonly efficiency_grown: number }[];
  }
  const of = async (...more: readonly string[]) => (await lastEvent(home, ...ask, ...more)).several as Said;
  const slow = await of('--interconnect', 'ethernet10');
  const quick = await of('--interconnect', '200');
  assert.deepEqual([slow.gb_s, quick.gb_s], [1.1, 200]);
  assert.equal(slow.points.length, 8);
  assert.ok(slow.worth_shared < quick.worth_shared, `${slow.worth_shared}, ${quick.worth_shared}`);
  assert.equal(quick.worth_grown, 8);
  assert.equal(quick.split.what, 'nothing');
  const starved = await of('--interconnect', '200', '--input-rate', '100', '--critical-batch', '512');
  assert.equal(starved.worth_shared, 1, 'what waits for its input is no faster on several');
  assert.ok(starved.worth_grown < 8, 'beyond the critical batch more examples do not help');
  const { stdout } = await trainyard(home, 'forecast', '--model', 'gpt3', '--batch', '8', '--devices', '16');
  assert.match(stdout, /On more than 8 devices a batch of 8 cannot be shared out: some would have no example/);
  assert.match(stdout, /^ *16 +–/m);
  assert.match(stdout, /the model itself has to be split|divide them among at least [\d,]+ \(ZeRO stage 3\)/);
  assert.match(stdout, /Beyond a batch of 5\d\d more examples a step hardly save steps/);
  for (const [args, said] of [
    [['--interconnect', 'pigeon', '--devices', '2'], /--interconnect is “pigeon”/],
    [['--on', 'abacus', '--devices', '2'], /no device “abacus”/],
    [['--interconnect', 'pcie4'], /says nothing without --devices/],
  ] as const) {
    const { code, stderr } = await trainyard(home, 'forecast', '--model', 'small', ...args, '--json');
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, said);
  }
});

test('the crossover is forecast and measured, and both are said', async (context) => {
  const home = temporaryHome(context);
  const args = ['--model', 'small', '--most', '4', '--rounds', '3', '--seconds', '2', '--between', 'cpu-wasm,cpu-1'];
  const event = await lastEvent(home, 'crossover', ...args);
  assert.equal(event.event, 'crossover');
  for (const name of ['predicted_batch', 'measured_batch']) {
    const batch = event[name];
    assert.ok(batch === null || (Number.isInteger(batch) && (batch as number) >= 1), `${name}: ${String(batch)}`);
  }
  const [low, high] = event.measured_between as readonly (number | null)[];
  assert.ok(low! >= 1 && (high === null || high >= low!), String(event.measured_between));
  assert.equal(typeof event.too_close, 'boolean');
  assert.equal((event.steps as readonly unknown[]).length, 3);
  const wide = ['--over', 'width', '--batch', '8', '--most', '128'];
  const widths = await lastEvent(home, 'crossover', '--model', 'small', ...args.slice(4), ...wide);
  assert.deepEqual([widths.near, widths.far], ['cpu-wasm', 'cpu-1']);
  assert.ok('predicted_width' in widths && 'measured_width' in widths);
  assert.deepEqual(
    (widths.steps as readonly { readonly width: number }[]).map(({ width }) => width),
    [8, 16, 32, 64, 128],
  );
  const { code, stderr } = await trainyard(home, 'crossover', '--model', 'gpt2', '--json');
  assert.equal(code, 2);
  assert.match(stderr, /cannot be timed here/);
});
