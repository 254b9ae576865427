// `npm start`: what it leaves out of what Chromium and GTK say, and what it does where there is no screen.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { hasGpuDevice } from '../../engine/backends/webgpu/node.driver.ts';
import { QuietLines } from '../../scripts/quiet.mjs';

const bus =
  '[17009:1121/223618.709108:ERROR:bus.cc(399)] Failed to connect to the bus: Failed to connect to socket /run/dbus/system_bus_socket: No such file\n';
const real = [
  'Trainyard cannot start: The history cannot be read.\n',
  '[17036:1121/223618.917079:ERROR:viz_main_impl.cc(186)] Exiting GPU process due to errors during initialization\n',
  '[1:2/3.4:FATAL:gpu_data_manager_impl_private.cc(431)] GPU process isn’t usable. Goodbye.\n',
  'Error: ENOSPC: no space left on device, write\n',
  '    at Object.writeSync (node:fs:921:3)\n',
];

test('lines about a missing message bus are left out and counted; everything else passes, in order and however it is cut', () => {
  let written = '';
  const quiet = new QuietLines((text: string) => (written += text));
  const all = real.flatMap((line) => [bus, line]).join('') + 'an end without a line end';
  for (let at = 0; at < all.length; at += 7) quiet.add(all.slice(at, at + 7));
  quiet.end();
  assert.equal(written, `${real.join('')}an end without a line end`);
  assert.deepEqual([...quiet.left], [['D-Bus', real.length]]);
});

test('a machine without a GPU’s device is known before Chromium looks', { skip: process.platform !== 'linux' }, (t) => {
  const devices = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-devices-'));
  t.after(() => fs.rmSync(devices, { recursive: true }));
  assert.equal(hasGpuDevice(devices), false);
  fs.mkdirSync(path.join(devices, 'dri'));
  assert.equal(hasGpuDevice(devices), false);
  fs.writeFileSync(path.join(devices, 'dri/renderD128'), '');
  assert.equal(hasGpuDevice(devices), true);
});

test('without a screen it says so and runs the demo; nothing else is on stderr', async (t) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-start-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const { DISPLAY: _x, WAYLAND_DISPLAY: _wayland, ...env } = process.env;
  const child = spawn(process.execPath, ['scripts/start.mjs'], { env: { ...env, TRAINYARD_HOME: home } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (process.platform === 'linux') {
    assert.equal(code, 0);
    assert.match(stdout, /The run is kept in /);
    assert.match(stderr, /^trainyard: there is no screen here .*\n(trainyard: .*\n)*$/);
  }
});
