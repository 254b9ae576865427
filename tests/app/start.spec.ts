// `npm start` on a machine without GPU and message bus, as the tests' own screen is: the window opens, and what is printed is ours.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DevTools, debuggerAddress } from './installed.ts';
import { expect, root, test } from './launch.ts';
import { familyOf } from '../support/processes.ts';

test('npm start opens the window and prints no noise of drivers and desktops', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-start-'));
  const child = spawn('node', ['scripts/start.mjs', '--remote-debugging-port=0'], {
    cwd: root,
    env: { ...process.env, TRAINYARD_HOME: home },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const page = await DevTools.open(await debuggerAddress(child, () => stderr));
  await page.shows('Train a model on this machine');
  // The first view needs the list of datasets, not what reads them: that took a quarter of the start's processor time.
  const kinds = familyOf(child.pid!).map(({ pid, kind }) => [kind, libraryOf(pid, 'libduckdb')]);
  expect(kinds.filter(([, loaded]) => loaded)).toEqual([]);
  expect(kinds.map(([kind]) => kind)).toContain('store');
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(stdout).toBe('');
  // The debugger is this test's own.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.includes('DevTools'));
  expect(lines).toEqual(lines.filter((line) => line.startsWith('trainyard: ')));
  fs.rmSync(home, { recursive: true, force: true });
});

for (const [variable, what, why] of [
  ['TRAINYARD_HOME', 'the app ended as if another one were open, without a word', ''],
  ['HOME', 'Chromium died of its own folder there before anything was said', '/\\.config/Trainyard'],
]) {
  test(`a ${variable} that cannot be used is told: ${what}`, async () => {
    const home = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-start-')), 'a file');
    fs.writeFileSync(home, '');
    const env = { ...process.env, TRAINYARD_HOME: '', XDG_CONFIG_HOME: '', [variable]: home };
    const child = spawn('node', ['scripts/start.mjs'], { cwd: root, env });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const ended = new Promise((resolve) => child.once('close', resolve));
    const told = expect.poll(() => stderr, { timeout: 30_000 });
    await told.toMatch(
      new RegExp(`Trainyard cannot start: .*a file${why} is not a folder\\. Set TRAINYARD_HOME to a folder\\.`),
    );
    // Its box waits for a person, or for the system that ends it.
    const family = familyOf(child.pid!);
    child.kill('SIGTERM');
    await ended;
    await expect
      .poll(() => family.filter(({ pid }) => fs.existsSync(`/proc/${pid}`)).map(({ kind }) => kind))
      .toEqual([]);
    fs.rmSync(path.dirname(home), { recursive: true, force: true });
  });
}

test('a relative XDG_CONFIG_HOME does not count: no window came of it', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-start-'));
  const env = { ...process.env, TRAINYARD_HOME: '', XDG_CONFIG_HOME: 'build/relative', HOME: home };
  const child = spawn('node', ['scripts/start.mjs', '--remote-debugging-port=0'], { cwd: root, env });
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const page = await DevTools.open(await debuggerAddress(child, () => stderr));
  await page.shows('Train a model on this machine');
  expect(fs.existsSync(path.join(home, '.config/Trainyard/history.db'))).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  fs.rmSync(home, { recursive: true, force: true });
  fs.rmSync(path.join(root, 'build/relative'), { recursive: true, force: true });
});

function libraryOf(pid: number, name: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/maps`, 'utf8').includes(name);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
