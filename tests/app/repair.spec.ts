// A history that cannot be opened: a damaged one is repaired from the window or left as it is, another program's stays out of it.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createStore, databaseFileName } from '../../engine/history/store.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { newRun } from '../unit/fixtures/history.ts';
import { callService, expect, launch, test, type App } from './launch.ts';

/** Of a box of the system's: what it said, in its own words. */
interface Shown {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
}

let home = '';
const file = (): string => path.join(home, databaseFileName);

test.beforeEach(() => (home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-repair-'))));
test.afterEach(() => fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

/** A home with two runs; the first page of its history is overwritten. */
async function damagedHome(): Promise<Buffer> {
  const store = createStore(home);
  for (const name of ['Kept first', 'Kept second']) {
    const { id } = await store.createRun(newRun({ name }));
    await store.updateRun({ run: id, patch: { state: 'completed', startedAt: 1, endedAt: 2 } });
  }
  await store.close();
  fs.rmSync(path.join(home, 'backups'), { recursive: true, force: true });
  fs.writeFileSync(file(), fs.readFileSync(file()).fill(0xaa, 0, 4096));
  return fs.readFileSync(file());
}

/**
 * Starts the app with a store that begins only when `go` is called: until then nothing is asked. Boxes of the system's are noted, and
 * answered with the button that matches.
 */
async function launchWithStoreHeld(answer: RegExp): Promise<App & { go(): void; shown(): Promise<readonly Shown[]> }> {
  const gate = path.join(home, 'gate');
  const slowNode = path.join(home, 'node.sh');
  const node = process.env['TRAINYARD_NODE'] ?? process.execPath;
  fs.writeFileSync(slowNode, `#!/bin/sh\nwhile [ ! -e '${gate}' ]; do sleep 0.05; done\nexec '${node}' "$@"\n`, {
    mode: 0o755,
  });
  const app = await launch({ home, env: { TRAINYARD_UTILITY: 'node', TRAINYARD_NODE: slowNode } });
  await app.electron.evaluate(({ BrowserWindow, dialog }, pattern) => {
    const shown: Shown[] = [];
    const note = ({ message, detail = '', buttons = [] }: Electron.MessageBoxOptions): number => {
      shown.push({ message, detail, buttons });
      const windows = BrowserWindow.getAllWindows().filter((window) => window.isVisible()).length;
      process.stderr.write(`box: ${message}\nwindows beside it: ${windows}\n`);
      return Math.max(
        0,
        buttons.findIndex((name) => new RegExp(pattern).test(name)),
      );
    };
    Object.assign(dialog, {
      shown,
      // Of a window, or of none.
      showMessageBox: async (first: unknown, second = first as Electron.MessageBoxOptions) => ({
        response: note(second),
      }),
    });
  }, answer.source);
  return {
    ...app,
    go: () => fs.writeFileSync(gate, ''),
    shown: () => app.electron.evaluate(({ dialog }) => (dialog as unknown as { shown: Shown[] }).shown),
  };
}

function exitCode({ electron }: App): Promise<unknown> {
  return new Promise((resolve) => electron.process().once('exit', resolve));
}

test('a damaged history is left as it is, or repaired: the window says what is lost, and shows its runs', async () => {
  const bytes = await damagedHome();
  const refused = await launchWithStoreHeld(/Quit/);
  const ended = exitCode(refused);
  refused.go();
  expect(await ended).toBe(1);
  expect(refused.stderr()).toMatch(/history\.db is damaged or is no Trainyard history/);
  expect(refused.stderr().match(/box: .*/g)).toEqual(['box: The history is damaged.']);
  expect(fs.readFileSync(file()).equals(bytes)).toBe(true);
  const damagedFiles = (): readonly string[] => fs.readdirSync(home).filter((name) => /damaged-.*\.db$/.test(name));
  expect(damagedFiles()).toEqual([]);
  fs.rmSync(path.join(home, 'gate'));

  const repaired = await launchWithStoreHeld(/Repair|Continue/);
  repaired.go();
  await repaired.page.getByRole('link', { name: 'Runs 2' }).click();
  await expect(repaired.page.getByText('Kept second').first()).toBeVisible();
  const [asked, told, ...more] = await repaired.shown();
  expect(asked).toMatchObject({ message: 'The history is damaged.', buttons: ['Repair', 'Quit'] });
  expect(told).toMatchObject({ message: 'The history has been repaired.', buttons: ['Continue'] });
  expect(told.detail).toMatch(/The damaged file is kept as .*history\.damaged-/);
  expect(told.detail).toMatch(/2 runs \(1, 2\) rebuilt from their folders: their curves and logs .* are lost/);
  expect(told.detail).toMatch(/The history holds 2 runs now/);
  expect(more).toEqual([]);
  const [kept] = damagedFiles();
  expect(fs.readFileSync(path.join(home, kept)).equals(bytes)).toBe(true);
  const { runs } = await callService<{ runs: readonly RunRecord[] }>(repaired, 'runs', {});
  expect(runs.map(({ name }) => name).sort()).toEqual(['Kept first', 'Kept second']);
  await repaired.close();
});

test('a database of another program is named and no repair is offered; it stays as it is', async () => {
  const other = new DatabaseSync(file());
  other.exec('CREATE TABLE song (title TEXT)');
  other.close();
  const bytes = fs.readFileSync(file());
  const app = await launchWithStoreHeld(/./);
  const ended = exitCode(app);
  app.go();
  expect(await ended).toBe(1);
  expect(app.stderr()).toMatch(/Trainyard cannot start: .*history\.db is a database, but no .*song/);
  expect(app.stderr().match(/box: .*/g)).toEqual(['box: Trainyard cannot start']);
  expect(app.stderr()).toContain('windows beside it: 0');
  expect(fs.readFileSync(file()).equals(bytes)).toBe(true);
});
