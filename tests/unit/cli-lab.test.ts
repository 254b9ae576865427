// `trainyard lab` as it is called: the line it promises, files of labs, and that an interruption keeps nothing.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { conditionsWords } from '../../engine/lab/conditions.ts';
import { labText, readLab } from '../../engine/lab/file.ts';
import { startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

test('a short lab: one line of the promised form, kept, and written to a file that is a lab', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(home, 'here.json');
  const { code, events, stderr } = await trainyard(home, 'lab', '--seconds', '2', '--json', '--export', file);
  assert.equal(code, 0, stderr);
  const [event] = events;
  assert.deepEqual(Object.keys(event), ['event', 'devices']);
  const devices = event['devices'] as readonly Record<string, unknown>[];
  for (const device of devices) assert.deepEqual(Object.keys(device), ['id', 'gflops', 'copy_gb_s', 'launch_us']);
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
    { event: 'lab', devices: [{ id: 'cpu', gflops: { '256': 90, '1024': 180 }, copy_gb_s: 20, launch_us: 1.5 }] },
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
