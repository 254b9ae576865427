// The deb as a person has it: installed by dpkg, started from /opt by an account made for it, with Chromium's sandbox on; a
// dropped file, a training on all threads that is killed and goes on, the command line on the path; a second account that sees
// nothing of it; and removal that leaves the home alone. It changes the machine, so it asks for root, and for no Trainyard there.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { packLinux } from '../../scripts/packages/linux.mjs';
import { processesOf, sessionOf, start, type Installation } from './installed.ts';
import { expect, root, test } from './launch.ts';
import { writeTable } from './scene.ts';

const program = '/opt/Trainyard/trainyard';
const has = (name: string): boolean => spawnSync('which', [name]).status === 0;

test.skip(process.platform !== 'linux' || !has('dpkg'), 'a deb is installed on Debian and its like alone');
test.skip(process.getuid?.() !== 0, 'installing a package and making accounts needs root (here, or in a container)');
test.skip(!has('useradd') || !has('userdel'), 'making accounts needs useradd and userdel');
test.skip(fs.existsSync(path.dirname(program)), 'Trainyard is installed on this machine: its package is not touched');

/** Runs a program to its end; its standard output. */
function run(name: string, args: readonly string[], options: object = {}): string {
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', ...options });
  expect(status, `${name} ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}

function makeAccount(name: string): Installation {
  run('useradd', ['--create-home', '--shell', '/bin/sh', name]);
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(run('id', [flag, name])));
  // As some systems make them: what Trainyard keeps there is private by itself.
  fs.chmodSync(`/home/${name}`, 0o755);
  return {
    program,
    account: { uid, gid },
    home: `/home/${name}`,
    give: (file) => fs.chownSync(file, uid, gid),
    remove: () => void spawnSync('userdel', ['--remove', name], { stdio: 'ignore' }),
  };
}

test('installed for an ordinary account: works, is killed, goes on, is private, and leaves only the home', async () => {
  test.setTimeout(180_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-deb-'));
  const accounts: Installation[] = [];
  try {
    const release = path.join(root, 'dist', 'linux-unpacked');
    const [deb] = await packLinux({ folder: release, output: folder, compression: 'none', kinds: ['deb'] });
    // The libraries it links against are here (scripts/electron.mjs); some of what it may start is not.
    run('dpkg', ['--install', '--force-depends', deb]);
    const name = `trainyard-${process.pid}`;
    const first = makeAccount(name);
    accounts.push(first);
    const table = writeTable(first.home, 700_000);
    first.give(table);

    const app = await start(first);
    await app.page.shows('Train a model on this machine');
    await app.page.drop(table);
    await app.page.click('New run with this data');
    await app.page.click('Small MLP');
    await app.page.click('Start');
    await app.page.shows('Pause', 60_000);
    const command = (who: Installation, ...args: readonly string[]): string =>
      run('/usr/bin/trainyard', args, { ...who.account, cwd: who.home, env: sessionOf(who) });
    const told = (): Record<string, unknown> => JSON.parse(command(first, 'runs', '--json').split('\n')[0]) as never;
    await expect.poll(() => told()['hasCheckpoint'], { timeout: 60_000 }).toBe(true);
    for (const { command: line, status } of app.processes()) {
      expect(line).not.toContain('--no-sandbox');
      expect(status).not.toMatch(/^Uid:.*\b0\b/m);
    }
    for (const { pid } of app.processes()) process.kill(pid, 'SIGKILL');
    await expect.poll(() => processesOf(program)).toEqual([]);
    expect(told()).toMatchObject({ id: 1, state: 'interrupted' });

    const again = await start(first);
    // Its name is that of its dataset, too.
    await again.page.shows('1 run kept');
    await again.page.evaluate("void (location.hash = '#run/1')");
    await again.page.shows('Pause', 60_000);
    expect(told()).toMatchObject({ id: 1, state: 'running' });
    await again.page.click('Stop');
    await expect.poll(() => told()['state'], { timeout: 60_000 }).toBe('stopped');
    expect(await again.quit()).toBe(0);
    expect(command(first, 'runs')).toContain(`cpu ×${os.availableParallelism()} `);

    const second = makeAccount(`${name}b`);
    accounts.push(second);
    expect(command(second, 'runs')).not.toContain('points');
    const home = path.join(first.home, '.config', 'Trainyard');
    for (const at of [home, path.join(home, 'history.db')]) {
      expect(spawnSync('cat', [at], second.account).status, at).not.toBe(0);
      expect(spawnSync('ls', [at], second.account).status, at).not.toBe(0);
    }

    run('dpkg', ['--purge', 'trainyard']);
    expect(fs.existsSync('/opt/Trainyard')).toBe(false);
    expect(fs.existsSync('/usr/bin/trainyard')).toBe(false);
    expect(fs.existsSync(home)).toBe(true);
  } finally {
    for (const { pid } of processesOf(program)) process.kill(pid, 'SIGKILL');
    spawnSync('dpkg', ['--purge', 'trainyard'], { stdio: 'ignore' });
    for (const account of accounts) account.remove();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
