// `forecast` and `crossover` as a person meets them: the contract of its lines, models by name, file and run, and what is wrong with bad input.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';

interface DeviceEvent {
  readonly id: string;
  readonly fits: boolean;
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
    assert.equal(typeof fits, 'boolean', id);
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
  assert.ok(devices.filter(({ id }) => /^(rtx|h100|a100)/.test(id)).every(({ fits }) => !fits));
});

test('for people: a calm table, and how to have this machine in it', async (context) => {
  const { code, stdout } = await trainyard(temporaryHome(context), 'forecast', '--model', 'small', '--rows', '5000');
  assert.equal(code, 0);
  assert.match(stdout, /^small: .* parameters/);
  assert.match(stdout, /largest batch: .* in 8 GB/);
  assert.match(stdout, /This machine has not been measured: `trainyard lab`/);
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
  const cases: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [[], /--model is missing/],
    [['--model', damaged], /is not JSON/],
    [['--model', strange], /no layer “warp”/],
    [['--model', wide], /too many to plan.*narrower/],
    [['--model', '7'], /7/],
    [['--model', 'resnet50', '--batch', '-4'], /--batch/],
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

test('the crossover is forecast and measured, and both are said', async (context) => {
  const home = temporaryHome(context);
  const args = ['--model', 'small', '--most', '4', '--rounds', '3', '--between', 'cpu-wasm,cpu'];
  const event = await lastEvent(home, 'crossover', ...args);
  assert.equal(event.event, 'crossover');
  for (const name of ['predicted_batch', 'measured_batch']) {
    const batch = event[name];
    assert.ok(batch === null || (Number.isInteger(batch) && (batch as number) >= 1), `${name}: ${String(batch)}`);
  }
  assert.equal((event.steps as readonly unknown[]).length, 3);
  const { code, stderr } = await trainyard(home, 'crossover', '--model', 'gpt2', '--json');
  assert.equal(code, 2);
  assert.match(stderr, /cannot be timed here/);
});
