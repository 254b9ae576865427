// The menu of a Linux desktop: the entry of a copy that lies anywhere, under any name, leads to it; what others have put there stays.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createMenuEntry, entryLeadingTo, type MenuEntries } from '../../electron/main/menu-entry.ts';
import { desktopEntry, mimeTypes } from '../../scripts/packages/desktop.mjs';

const entry: string = desktopEntry({ program: 'trainyard' });

interface Disk {
  readonly folder: string;
  readonly program: string;
  readonly own: string;
  readonly links: (variables?: Readonly<Record<string, string>>) => MenuEntries;
}

/** A program with what its package brings, in a folder with an odd name, and an account beside it. */
function unpacked(context: TestContext): Disk {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-menu-'));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const app = path.join(folder, 'Ada’s $apps 100%');
  const share: Record<string, string> = {
    'applications/trainyard.desktop': entry,
    'mime/packages/trainyard.xml': mimeTypes(),
    'icons/hicolor/scalable/apps/trainyard.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  };
  for (const [name, text] of Object.entries(share)) {
    fs.mkdirSync(path.dirname(path.join(app, 'share', name)), { recursive: true });
    fs.writeFileSync(path.join(app, 'share', name), text);
  }
  const program = path.join(app, 'trainyard');
  fs.writeFileSync(program, '#!/bin/sh\necho "opened $*"\n', { mode: 0o755 });
  const home = path.join(folder, 'home');
  const common = { system: 'linux', packaged: true, program, resources: path.join(app, 'resources'), home } as const;
  return {
    ...{ folder, program, own: path.join(home, '.local/share/applications/trainyard.desktop') },
    links: (variables = {}) =>
      createMenuEntry({ ...common, variables: { XDG_DATA_DIRS: path.join(folder, 'system'), ...variables } }),
  };
}

/** The program and arguments of an entry, read as the Desktop Entry Specification says. */
function startedBy(text: string): string {
  const value = /^Exec=(.*)$/m.exec(text)![1].replace(/\\\\/g, '\\');
  return /^(?:nice -n 0 )?"((?:[^"\\]|\\.)*)" %F$/.exec(value)![1].replace(/\\(.)/g, '$1').replaceAll('%%', '%');
}

const unix = { skip: process.platform === 'win32' };

test('it is put into the menu with its icon and types, leads to the copy, and goes again', unix, async (context) => {
  const { own, program, links } = unpacked(context);
  const menu = links();
  assert.deepEqual(await menu.menuEntry(), { state: 'absent', at: own, can: 'link', note: '' });
  assert.deepEqual(await menu.addMenuEntry(), { state: 'linked', at: own, can: 'unlink', note: '' });
  const text = fs.readFileSync(own, 'utf8');
  assert.equal(startedBy(text), program);
  assert.match(text, /^MimeType=.*text\/csv/m);
  const data = path.dirname(path.dirname(own));
  assert.ok(fs.existsSync(/^Icon=(.*)$/m.exec(text)![1]));
  assert.ok(fs.existsSync(path.join(data, 'mime/packages/trainyard.xml')));
  const valid = spawnSync('desktop-file-validate', [own], { encoding: 'utf8' });
  if (valid.error) context.diagnostic('desktop-file-validate is not here (Debian: desktop-file-utils)');
  else {
    // Of version 1.5, which older checkers do not know.
    const said = (valid.stdout + valid.stderr).split('\n').filter((line) => line && !line.includes('SingleMainWindow'));
    assert.deepEqual(said, []);
  }

  assert.equal((await menu.addMenuEntry()).state, 'linked', 'a second time changes nothing');
  assert.equal((await menu.removeMenuEntry()).state, 'absent');
  const left = fs.readdirSync(data, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    left.filter((name) => /trainyard/.test(name)),
    [],
  );
  assert.equal((await menu.removeMenuEntry()).state, 'absent');
});

test('names are quoted and escaped so that the program itself is started', () => {
  for (const program of ['/opt/a b/trainyard', '/x/"$HOME`\\/t', '/100 %/%F/t']) {
    const text = entryLeadingTo(entry, program, '/i.svg');
    assert.equal(startedBy(text), program);
    assert.equal(/^TryExec=(.*)$/m.exec(text)![1].replaceAll('\\\\', '\\'), program);
  }
});

test('GLib, which GNOME and Xfce start programs by, finds the program and hands it files', (context) => {
  if (spawnSync('gio', ['version']).error) return context.skip('gio is not here (Debian: libglib2.0-bin)');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-menu-'));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const name of ['plain', 'a b', '"$HOME`\\', '100 %', '%F', 'a=b 100%']) {
    const program = path.join(folder, name, 'trainyard');
    fs.mkdirSync(path.dirname(program));
    fs.writeFileSync(
      program,
      '#!/bin/sh\nprintf "%s\\n" "$0" "$@" >"${0%/*}/told.part"\nmv "${0%/*}/told.part" "${0%/*}/told"\n',
      {
        mode: 0o755,
      },
    );
    const file = path.join(folder, 'trainyard.desktop');
    fs.writeFileSync(file, entryLeadingTo(entry, program, '/i.svg'));
    const opened = path.join(folder, 'a 100% b.csv');
    const { status, stderr } = spawnSync('gio', ['launch', file, opened], { encoding: 'utf8' });
    assert.equal(status, 0, `${name}: ${stderr}`);
    const told = path.join(path.dirname(program), 'told');
    for (let i = 0; i < 200 && !fs.existsSync(told); i++)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    assert.equal(fs.readFileSync(told, 'utf8'), `${program}\n${opened}\n`);
  }
});

test(
  'of an AppImage the entry leads to the image, and where the account keeps its data decides',
  unix,
  async (context) => {
    const { folder, links } = unpacked(context);
    const image = path.join(folder, 'Trainyard.AppImage');
    const menu = links({ APPIMAGE: image, XDG_DATA_HOME: path.join(folder, 'data') });
    const { at } = await menu.addMenuEntry();
    assert.equal(at, path.join(folder, 'data/applications/trainyard.desktop'));
    assert.equal(startedBy(fs.readFileSync(at, 'utf8')), image);
  },
);

test(
  'a package’s entry is enough; another program’s stays; one of a copy that was is replaced',
  unix,
  async (context) => {
    const { folder, own, program, links } = unpacked(context);
    const menu = links();
    fs.mkdirSync(path.dirname(own), { recursive: true });
    fs.writeFileSync(own, '[Desktop Entry]\nType=Application\nName=Yard trains\nExec=yard\n');
    assert.deepEqual([(await menu.menuEntry()).state, (await menu.menuEntry()).can], ['other', null]);
    await assert.rejects(menu.addMenuEntry(), { code: 'input.menu_entry' });
    await assert.rejects(menu.removeMenuEntry(), { code: 'input.menu_entry' });

    fs.writeFileSync(own, entryLeadingTo(entry, '/gone/trainyard', '/gone.svg'));
    assert.deepEqual([(await menu.menuEntry()).state, (await menu.menuEntry()).can], ['other', 'link']);
    assert.equal((await menu.addMenuEntry()).state, 'linked');
    assert.equal(startedBy(fs.readFileSync(own, 'utf8')), program);
    await menu.removeMenuEntry();

    const plain = path.join(folder, 'plain');
    fs.symlinkSync(program, plain);
    const file = path.join(folder, 'system/applications/trainyard.desktop');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, entry.replace('Exec=trainyard', `Exec=${plain}`));
    assert.deepEqual(await menu.menuEntry(), { state: 'linked', at: file, can: null, note: '' });
  },
);

test('there is none on other systems, nor of a checkout', async () => {
  const common = { program: '/x/trainyard', resources: '/x', home: '/home/x', variables: {} };
  for (const at of [
    { system: 'darwin', packaged: true },
    { system: 'linux', packaged: false },
  ] as const) {
    const menu = createMenuEntry({ ...common, ...at });
    assert.equal((await menu.menuEntry()).state, 'impossible');
    await assert.rejects(menu.addMenuEntry(), { code: 'input.menu_entry' });
  }
});
