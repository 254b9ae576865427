// The command in the path of terminals: where it can stand on each system, what people are told, and that it is put there and taken away.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createCommandLink } from '../../electron/main/command-link.ts';
import {
  commandState,
  commandWay,
  foldersOfPath,
  scriptCalling,
  type Surroundings,
} from '../../electron/main/command-plan.ts';

const packaging = path.resolve(import.meta.dirname, '../../packaging');

const linux: Surroundings = {
  system: 'linux',
  packaged: true,
  program: '/home/ada/Trainyard/trainyard',
  resources: '/home/ada/Trainyard/resources',
  home: '/home/ada',
  variables: { PATH: '/usr/bin:/bin' },
};
const mac: Surroundings = {
  ...linux,
  system: 'darwin',
  program: '/Applications/Trainyard.app/Contents/MacOS/Trainyard',
  resources: '/Applications/Trainyard.app/Contents/Resources',
  home: '/Users/ada',
};
const windows: Surroundings = {
  ...linux,
  system: 'win32',
  program: 'C:\\Users\\Ada Lovelace\\AppData\\Local\\Programs\\trainyard\\Trainyard.exe',
  resources: 'C:\\Users\\Ada Lovelace\\AppData\\Local\\Programs\\trainyard\\resources',
  home: 'C:\\Users\\Ada Lovelace',
  variables: { PATH: 'C:\\Windows;C:\\Windows\\System32' },
};

test('the line for a profile holds whatever the home is called', { skip: process.platform === 'win32' }, () => {
  const home = '/home/a "b" $c `d` \\e';
  const way = commandWay({ ...linux, home });
  assert.ok(way.kind === 'link');
  const { note } = commandState(way, { standing: [], folder: way.folders[0], inPath: [] });
  const line = /export PATH=.*$/.exec(note)![0];
  const { stdout } = spawnSync('/bin/sh', ['-c', `PATH=/bin; ${line}; printf %s "$PATH"`], { encoding: 'utf8' });
  assert.equal(stdout, `${home}/.local/bin:/bin`);
});

test('each system and kind of package has its own way, or says why there is none', () => {
  assert.deepEqual(commandWay(linux), {
    kind: 'link',
    script: '/home/ada/Trainyard/bin/trainyard',
    folders: ['/home/ada/.local/bin'],
  });
  assert.deepEqual(commandWay({ ...linux, variables: { APPIMAGE: '/home/ada/Trainyard.AppImage' } }), {
    kind: 'copy',
    script: '/home/ada/Trainyard/bin/trainyard',
    program: '/home/ada/Trainyard.AppImage',
    folders: ['/home/ada/.local/bin'],
  });
  assert.deepEqual(commandWay(mac), {
    kind: 'link',
    script: '/Applications/Trainyard.app/Contents/Resources/bin/trainyard',
    folders: ['/usr/local/bin', '/Users/ada/.local/bin'],
  });
  const bin = 'C:\\Users\\Ada Lovelace\\AppData\\Local\\Programs\\trainyard\\bin';
  assert.deepEqual(commandWay(windows), { kind: 'variable', folder: bin, tool: `${bin}\\path.ps1` });
  assert.deepEqual(foldersOfPath(windows), ['C:\\Windows', 'C:\\Windows\\System32']);
  const why = (surroundings: Surroundings): string => {
    const way = commandWay(surroundings);
    return way.kind === 'impossible' ? way.why : '';
  };
  assert.match(why({ ...linux, packaged: false }), /sources.*npm run/);
  assert.match(why({ ...windows, variables: { PORTABLE_EXECUTABLE_FILE: 'D:\\Trainyard.exe' } }), /portable.*install/);
  assert.match(why({ ...mac, program: '/Volumes/Trainyard/Trainyard.app/Contents/MacOS/Trainyard' }), /Applications/);
  assert.match(why({ ...mac, program: '/private/var/AppTranslocation/A/d/Trainyard.app/x' }), /Applications/);
  assert.match(why({ ...linux, system: 'freebsd' }), /freebsd/);
});

test('what the packages bring calls the program that lies beside it, and takes all it is given', () => {
  const script = (file: string): string => fs.readFileSync(path.join(packaging, file), 'utf8');
  for (const [file, program, rest] of [
    ['linux/trainyard', '/../trainyard"', '"$@"'],
    ['mac/trainyard', '/../../MacOS/Trainyard"', '"$@"'],
    ['windows/trainyard.cmd', '..\\Trainyard.exe"', '%*'],
  ] as const) {
    assert.ok(script(file).includes(`${program} --command `), file);
    assert.ok(script(file).includes(` -- ${rest}\n`), file);
  }
  const copy = scriptCalling(script('linux/trainyard'), "/home/ada/it's $& here.AppImage");
  assert.match(copy, /^exec '\/home\/ada\/it'\\''s \$& here\.AppImage' --command /m);
  assert.ok(!copy.includes('$here/'));
});

interface Disk {
  readonly surroundings: Surroundings;
  readonly own: string;
  readonly script: string;
}

/** What the script itself calls, without the folder of the system's programs: an installed Trainyard has its command there. */
function toolsIn(folder: string): string {
  const tools = path.join(folder, 'tools');
  fs.mkdirSync(tools);
  for (const name of ['sh', 'dirname', 'readlink']) {
    const program = ['/usr/bin', '/bin'].map((place) => path.join(place, name)).find((file) => fs.existsSync(file))!;
    fs.symlinkSync(program, path.join(tools, name));
  }
  return tools;
}

/** An installation whose command says where it lies and what it was given. */
function installed(context: TestContext, variables: Record<string, string> = {}): Disk {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard link '));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const script = path.join(folder, 'app', 'bin', 'trainyard');
  fs.mkdirSync(path.dirname(script), { recursive: true });
  fs.copyFileSync(path.join(packaging, 'linux', 'trainyard'), script);
  const program = path.join(folder, 'app', 'trainyard');
  fs.writeFileSync(program, '#!/bin/sh\nfor last; do :; done\necho "got $last"\n', { mode: 0o755 });
  fs.chmodSync(script, 0o755);
  const home = path.join(folder, 'home');
  const own = path.join(home, '.local', 'bin');
  const PATH = `${path.join(folder, 'empty')}:${own}:${toolsIn(folder)}`;
  return { surroundings: { ...linux, program, home, variables: { PATH, ...variables } }, own, script };
}

const said = ({ surroundings }: Disk): string =>
  spawnSync('sh', ['-c', 'trainyard runs'], { cwd: '/', encoding: 'utf8', env: { ...surroundings.variables } }).stdout;

test(
  'it is linked, found from any folder, and taken away again',
  { skip: process.platform === 'win32' },
  async (context) => {
    const disk = installed(context);
    const links = createCommandLink(disk.surroundings);
    const file = path.join(disk.own, 'trainyard');
    assert.deepEqual(await links.commandLink(), { state: 'absent', at: file, can: 'link', note: '' });
    assert.deepEqual(await links.linkCommand(), { state: 'linked', at: file, can: 'unlink', note: '' });
    assert.equal(said(disk), 'got runs\n');
    assert.equal((await links.linkCommand()).state, 'linked', 'a second time changes nothing');
    assert.equal((await links.unlinkCommand()).state, 'absent');
    assert.ok(!fs.existsSync(file));
    assert.equal((await links.unlinkCommand()).state, 'absent');
    const outside = createCommandLink({
      ...disk.surroundings,
      variables: { PATH: path.join(disk.surroundings.home, 'other') },
    });
    assert.match((await outside.linkCommand()).note, /not in the PATH.*export PATH="[^"]*\.local\/bin:\$PATH"/);
  },
);

test(
  'of an AppImage a script is left that calls the image',
  { skip: process.platform === 'win32' },
  async (context) => {
    const disk = installed(context);
    const image = path.join(disk.surroundings.home, "Ada's.AppImage");
    fs.mkdirSync(disk.surroundings.home);
    fs.copyFileSync(disk.surroundings.program, image);
    const links = createCommandLink({
      ...disk.surroundings,
      variables: { ...disk.surroundings.variables, APPIMAGE: image },
    });
    assert.equal((await links.linkCommand()).state, 'linked');
    assert.equal(said(disk), 'got runs\n');
    assert.equal((await links.unlinkCommand()).state, 'absent');
  },
);

test(
  'what others have put there stays; what led to another copy is replaced',
  { skip: process.platform === 'win32' },
  async (context) => {
    const disk = installed(context);
    const links = createCommandLink(disk.surroundings);
    const file = path.join(disk.own, 'trainyard');
    fs.mkdirSync(disk.own, { recursive: true });
    fs.writeFileSync(file, '#!/bin/sh\necho mine\n');
    const state = await links.commandLink();
    assert.deepEqual([state.state, state.can], ['other', null]);
    assert.match(state.note, /another program’s. Remove it, or rename it/);
    await assert.rejects(links.linkCommand(), { code: 'input.command_link' });
    await assert.rejects(links.unlinkCommand(), { code: 'input.command_link' });
    assert.match(fs.readFileSync(file, 'utf8'), /mine/);
    fs.rmSync(file);
    fs.symlinkSync('/gone/Trainyard/bin/trainyard', file);
    assert.deepEqual([(await links.commandLink()).state, (await links.commandLink()).can], ['other', 'link']);
    assert.equal((await links.linkCommand()).state, 'linked');
    assert.equal(fs.readlinkSync(file), disk.script);
  },
);

test(
  'where a package of the system has put it into the path there is nothing to do',
  { skip: process.platform === 'win32' },
  async (context) => {
    const disk = installed(context);
    const folder = path.join(disk.surroundings.home, 'usr-bin');
    fs.mkdirSync(folder, { recursive: true });
    fs.symlinkSync(disk.script, path.join(folder, 'trainyard'));
    const links = createCommandLink({ ...disk.surroundings, variables: { PATH: folder } });
    assert.deepEqual(await links.commandLink(), {
      state: 'linked',
      at: path.join(folder, 'trainyard'),
      can: null,
      note: '',
    });
    await assert.rejects(links.unlinkCommand(), { code: 'input.command_link' });
  },
);
