// The Linux packages, packed of the release's folder without compression: what is in them, how large they are, and that packing
// again gives the same bytes.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { packLinux } from '../../scripts/packages/linux.mjs';
import { expect, root, test } from './launch.ts';

const release = path.join(root, 'dist', 'linux-unpacked');
const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0;

test.skip(process.platform !== 'linux' || !hasDpkg, 'needs dpkg-deb: a deb is packed on Debian and its like');

let folder = '';
let deb = '';
test.beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-packages-'));
  deb = await packDeb('first', release);
});
test.afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const hashOf = (file: string): string => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
const run = (...[program, ...args]: [string, ...string[]]): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  expect(status, stderr).toBe(0);
  return stdout;
};

/** The deb of a folder, without compression. */
async function packDeb(name: string, from: string): Promise<string> {
  const [file] = await packLinux({
    folder: from,
    output: path.join(folder, name),
    compression: 'none',
    kinds: ['deb'],
  });
  return file;
}

test('a deb of the same folder is the same to the byte, whatever its times, modes and the account’s umask', async () => {
  const copy = path.join(folder, 'copy');
  fs.cpSync(release, copy, { recursive: true });
  // Another day, another umask.
  for (const name of ['LICENSE', 'resources', 'resources/app.asar']) fs.utimesSync(path.join(copy, name), 1e9, 1e9);
  fs.chmodSync(path.join(copy, 'NOTICES'), 0o600);
  fs.chmodSync(path.join(copy, 'resources'), 0o700);
  const usual = process.umask(0o077);
  try {
    expect(hashOf(await packDeb('second', copy))).toBe(hashOf(deb));
  } finally {
    process.umask(usual);
    fs.rmSync(copy, { recursive: true });
  }
});

test('the archive of the same folder is the same to the byte, and unpacks into a folder of its own', async () => {
  const small = path.join(folder, 'small');
  fs.mkdirSync(path.join(small, 'resources'), { recursive: true });
  fs.writeFileSync(path.join(small, 'trainyard'), 'a program', { mode: 0o700 });
  fs.writeFileSync(path.join(small, 'resources', 'app'), 'a file', { mode: 0o666 });
  const pack = async (name: string): Promise<string> => {
    const output = path.join(folder, name);
    return (await packLinux({ folder: small, output, kinds: ['tar.xz'] }))[0];
  };
  const archive = await pack('archive');
  fs.utimesSync(path.join(small, 'trainyard'), 1e9, 1e9);
  fs.chmodSync(path.join(small, 'resources'), 0o700);
  expect(hashOf(await pack('archive again'))).toBe(hashOf(archive));
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  const name = `trainyard-${version}-linux-${process.arch}`;
  expect(path.basename(archive)).toBe(`${name}.tar.xz`);
  const rows = run('tar', '--list', '--verbose', '--numeric-owner', '--file', archive).trim().split('\n');
  expect(rows.map((row) => row.split(/\s+/)).map(([mode, owner, , , , entry]) => [mode, owner, entry])).toEqual([
    ['drwxr-xr-x', '0/0', `${name}/`],
    ['drwxr-xr-x', '0/0', `${name}/resources/`],
    ['-rw-r--r--', '0/0', `${name}/resources/app`],
    ['-rwxr-xr-x', '0/0', `${name}/trainyard`],
  ]);
});

test('the deb belongs to root, brings menu entry and icons, and the sandbox’s helper alone has root’s rights', async () => {
  const rows = run('dpkg-deb', '--contents', deb)
    .trim()
    .split('\n')
    .map((row) => row.split(/\s+/));
  const modes = new Map(rows.map(([mode, , , , , name]) => [name.slice(1), mode]));
  expect(new Set(rows.map(([, owner]) => owner))).toEqual(new Set(['root/root']));
  expect([...modes].filter(([, mode]) => mode.includes('s'))).toEqual([
    ['/opt/Trainyard/chrome-sandbox', '-rwsr-xr-x'],
  ]);
  expect([...modes].filter(([, mode]) => /^.{5}w|^.{8}w/.test(mode) && !mode.startsWith('l'))).toEqual([]);
  for (const size of [16, 24, 32, 48, 64, 128, 256, 512]) {
    expect(modes.get(`/usr/share/icons/hicolor/${size}x${size}/apps/trainyard.png`)).toBe('-rw-r--r--');
  }

  const out = path.join(folder, 'out');
  run('dpkg-deb', '--extract', deb, out);
  const entry = fs.readFileSync(path.join(out, 'usr/share/applications/trainyard.desktop'), 'utf8');
  expect(entry).toMatch(/^\[Desktop Entry\]\nType=Application\nName=Trainyard\n/);
  expect(entry).toMatch(/^Exec=\/opt\/Trainyard\/trainyard\b/m);
  expect(entry).toMatch(/^Icon=trainyard$/m);
  const icon = fs.readFileSync(path.join(out, 'usr/share/icons/hicolor/48x48/apps/trainyard.png'));
  expect([icon.toString('latin1', 1, 4), icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual(['PNG', 48, 48]);
  // Binaries of this system alone.
  const binaries = [...modes.keys()].filter((name) => name.includes('/node_modules/') && /\.(node|so)$/.test(name));
  expect(binaries.map((name) => path.basename(name)).sort()).toEqual([
    'duckdb.node',
    'image.linux-x64-gnu.node',
    'libduckdb.so',
    'linux-x64.node',
  ]);
  expect([...modes.keys()].filter((name) => name.endsWith('.pak')).map((name) => path.basename(name))).toEqual([
    'chrome_100_percent.pak',
    'chrome_200_percent.pak',
    'en-US.pak',
    'resources.pak',
  ]);
  // The plain Node is of a package with the development Electron alone.
  const node = path.join(out, 'opt/Trainyard/resources/node');
  const kilobytes = Number(run('dpkg-deb', '--field', deb, 'Installed-Size').trim());
  const ofNode = fs.existsSync(node) ? fs.statSync(node).size : 0;
  expect(kilobytes * 1024 - ofNode).toBeLessThan(300e6);
});
