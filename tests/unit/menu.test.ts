// The native menu on each system, and the list of files that were opened last.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { MenuItemConstructorOptions } from 'electron';
import { menuTemplate } from '../../electron/main/menu-template.ts';
import { RecentFiles } from '../../electron/main/recent-files.ts';
import { temporaryFolder } from './data/helpers.ts';

type Items = readonly MenuItemConstructorOptions[];

function built(platform: NodeJS.Platform, recent: readonly string[] = []) {
  const sent: string[] = [];
  const note = (what: string) => (value?: unknown) =>
    void sent.push(typeof value === 'string' ? `${what} ${value}` : what);
  const actions = { send: note('send'), reload: note('reload'), open: note('open'), clearRecent: note('clear') };
  const menus = menuTemplate(platform, recent, actions);
  const items = (title: string): Items =>
    (menus.find(({ label, role }) => label === title || role === title)?.submenu ?? []) as Items;
  const words = (title: string): readonly string[] =>
    items(title).map(({ label, role, type }) => label ?? role ?? (type === 'separator' ? '–' : '?'));
  const press = (item?: MenuItemConstructorOptions): void => (item?.click as unknown as () => void)();
  return { menus, items, words, press, sent };
}

test('on macOS the app has a menu of its own, with About and Settings; the others have them under File and Help', () => {
  const mac = built('darwin');
  assert.deepEqual(
    mac.menus.map(({ label, role }) => label ?? role),
    ['Trainyard', 'File', 'editMenu', 'View', 'Go to', 'windowMenu', 'Help'],
  );
  assert.deepEqual(mac.words('Trainyard').slice(0, 3), ['About Trainyard', '–', 'Settings…']);
  assert.ok(mac.words('Trainyard').includes('quit') && mac.words('File').at(-1) === 'close');
  assert.ok(!mac.words('File').includes('Settings') && !mac.words('Help').includes('About Trainyard'));
  mac.press(mac.items('Trainyard')[0]);
  assert.deepEqual(mac.sent, ['send about']);

  for (const platform of ['linux', 'win32'] as const) {
    const { words } = built(platform);
    assert.ok(words('File').includes('Settings') && words('File').at(-1) === 'quit', platform);
    assert.ok(words('Help').includes('About Trainyard'), platform);
  }
  for (const { items } of [mac, built('linux')])
    for (const title of ['File', 'View', 'Go to', 'Help']) {
      const lines = items(title).map(({ type }) => type === 'separator');
      assert.ok(!lines[0] && !lines.at(-1) && !lines.some((line, at) => line && lines[at + 1]), title);
    }
});

test('files that were opened last stand under File, and are opened from there', () => {
  const { items, press, sent } = built('linux', ['/data/a & b.csv', '/data/old.csv']);
  const recent = items('File').find(({ label }) => label === 'Open recent');
  const [first, second, , clear] = recent?.submenu as Items;
  assert.deepEqual([first.label, second.label], ['a && b.csv', 'old.csv']);
  [first, clear].forEach(press);
  assert.deepEqual(sent, ['open /data/a & b.csv', 'clear']);
  const alike = built('linux', ['/may/train.csv', '/june/train.csv', '/june/test.csv']).items('File');
  const named = alike.find(({ label }) => label === 'Open recent')?.submenu as Items;
  assert.deepEqual(
    named.slice(0, 3).map(({ label }) => label),
    ['train.csv (/may)', 'train.csv (/june)', 'test.csv'],
  );
  assert.equal(
    built('linux')
      .items('File')
      .find(({ label }) => label === 'Open recent')?.enabled,
    false,
  );
  assert.equal(
    built('darwin')
      .items('File')
      .find(({ label }) => label === 'Open recent')?.role,
    'recentDocuments',
  );
});

test('the ten newest are kept, each once, across starts; a damaged list is none; clearing leaves nothing', (context) => {
  const home = temporaryFolder(context);
  const recent = new RecentFiles(home);
  const told: string[] = [];
  recent.onAdded(({ file }) => told.push(path.basename(file)));
  for (let i = 0; i < 12; i++) recent.add(path.join(home, `${i}.csv`));
  recent.add(path.join(home, '5.csv'));
  assert.equal(told.length, 13);
  const names = new RecentFiles(home).list().map((file) => path.basename(file));
  assert.deepEqual(
    names,
    [5, 11, 10, 9, 8, 7, 6, 4, 3, 2].map((number) => `${number}.csv`),
  );
  recent.clear();
  assert.deepEqual(fs.readdirSync(home), []);
  fs.writeFileSync(path.join(home, 'recent.json'), '["relative.csv", 7, ');
  assert.deepEqual(new RecentFiles(home).list(), []);
});
