// `trainyard lab` as it is called: the line it promises, files of labs, and that an interruption keeps nothing.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { beginMeasuring, measuringElsewhere } from '../../engine/history/measuring.ts';
import { conditionsWords } from '../../engine/lab/conditions.ts';
import { labText, readLab } from '../../engine/lab/file.ts';
import { watchOthers } from '../../engine/system/others.ts';
import { penguins, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

test('a short lab: one line of the promised form, kept, and written to a file that is a lab', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(home, 'here.json');
  const { code, events, stderr } = await trainyard(home, 'lab', '--seconds', '2', '--json', '--export', file);
  assert.equal(code, 0, stderr);
  const [event] = events;
  assert.deepEqual(Object.keys(event), ['event', 'devices', 'notes']);
  const devices = event['devices'] as readonly Record<string, unknown>[];
  for (const device of devices)
    assert.deepEqual(Object.keys(device), ['id', 'gflops', 'copy_gb_s', 'launch_us', 'spread']);
  assert.deepEqual(devices.map(({ id }) => id).slice(0, 2), ['cpu', 'cpu-1']);
  const written = readLab(readFileSync(file, 'utf8'), file);
  assert.equal(written.devices.length, devices.length);
  assert.match((await trainyard(home, 'lab', '--list')).stdout, new RegExp(written.machine.name));
});

test('a lab of another machine is taken up; what is none is refused in one sentence', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(home, 'desk.json');
  writeFileSync(file, labText(exampleLab()));
  const { code, events } = await trainyard(home, 'lab', '--import', file, '--json');
  assert.equal(code, 0);
  assert.deepEqual(events, [
    {
      event: 'lab',
      devices: [
        {
          ...{ id: 'cpu', gflops: { '256': 90, '1024': 180 }, copy_gb_s: 20, launch_us: 1.5 },
          spread: { gflops: { '256': 0.02, '1024': 0.02 }, copy_gb_s: 0.02, launch_us: 0.02 },
        },
      ],
      notes: ['16-bit products were left out.'],
    },
  ]);
  writeFileSync(file, labText(exampleLab()).slice(0, 300));
  const refused = await trainyard(home, 'lab', '--import', file);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^trainyard: desk\.json is no lab of Trainyard: it is no JSON/);
  const list = await trainyard(home, 'lab', '--list', '--json');
  assert.deepEqual(
    list.events.map(({ event, machine, imported }) => [event, machine, imported]),
    [['lab_summary', 'desk', true]],
  );
  assert.equal((await trainyard(home, 'lab', '--seconds', '-1')).code, 2);
});

test('nothing else measures beside a lab, and a killed one is in nobody’s way', async (t) => {
  const home = temporaryHome(t);
  const running = startTrainyard(home, ['lab', '--seconds', '60']);
  await new Promise((resolve) => running.child.stdout?.once('data', resolve));
  for (const args of [['lab'], ['crossover', '--model', 'small'], ['train', penguins, '--epochs', '1']]) {
    const { code, stderr } = await trainyard(home, ...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^trainyard: A lab of another process \(\d+\) measures this machine: [^\n]*\n$/);
  }
  assert.throws(() => beginMeasuring(home, 'crossover'), { code: 'input.measuring' });
  running.child.kill('SIGKILL');
  await running.finished;
  const done = beginMeasuring(home, 'crossover');
  assert.equal(measuringElsewhere(home), null);
  done();
  assert.deepEqual(readdirSync(path.join(home, 'hardware')), []);
});

test('no GPU: a crossover that asks for one is refused before anything is measured', async (t) => {
  // Where the tests have an adapter in software, the command line is not told of it.
  const args = ['crossover', '--model', 'small', '--between', 'cpu,gpu-0'];
  const { finished } = startTrainyard(temporaryHome(t), args, undefined, {
    TRAINYARD_SWIFTSHADER: '',
    VK_ICD_FILENAMES: '',
  });
  const { code, stderr } = await finished;
  assert.equal(code, 2);
  assert.match(stderr, /^trainyard: No GPU was found on this machine: [^\n]*\n$/);
});

test('a look too short for the ticks of the system does not find others quiet', async () => {
  const seen = watchOthers();
  assert.equal(seen(), null);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(typeof seen(), 'number');
});

test('SIGINT: nothing is kept, and that is said', async (t) => {
  const home = temporaryHome(t);
  const running = startTrainyard(home, ['lab', '--seconds', '60', '--export', path.join(home, 'never.json')]);
  await new Promise((resolve) => running.child.stdout?.once('data', resolve));
  running.child.kill('SIGINT');
  const { code, stderr } = await running.finished;
  assert.equal(code, 130, stderr);
  assert.match(stderr, /cancelled/i);
  const { events } = await trainyard(home, 'lab', '--list', '--json');
  assert.deepEqual(events, []);
});

test('before it measures: battery and other programs are said, as in the window', () => {
  assert.deepEqual(conditionsWords({ processors: 2, busy: 0.1, battery: false }), []);
  assert.deepEqual(conditionsWords({ processors: 8, busy: 1.26, battery: false }), [], 'the larger part is free');
  assert.deepEqual(conditionsWords({ processors: 8, busy: null, battery: false }), [], 'runs of the app pause for it');
  const [battery, load] = conditionsWords({ processors: 2, busy: 1.26, battery: true });
  assert.match(battery, /^This machine runs on its battery/);
  assert.match(load, /^Other programs use 1\.3 of 2 processors now/);
});
