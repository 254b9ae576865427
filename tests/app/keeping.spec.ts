// A history is never lost, as a person sees to it in the window: a backup, its restoring, the history looked at, room on the disk; runs found by
// their settings, in groups and named views.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createStore } from '../../engine/history/store.ts';
import type { FoundRuns } from '../../engine/protocol/store.ts';
import { newRun, point } from '../unit/fixtures/history.ts';
import { callService, expect, launch, screenshot, test, type App } from './launch.ts';

let home = '';
test.beforeEach(() => (home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-keeping-'))));
test.afterEach(() => fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

async function makeHome(): Promise<void> {
  const store = createStore(home);
  for (const name of ['walrus', 'puffin', 'auk']) {
    const { id } = await store.createRun(newRun({ name }));
    await store.append({ run: id, points: [point('val_loss', 1, id), point('val_accuracy', 1, 1 / id)] });
    await store.writeFile({ run: id, file: 'checkpoint.bin', data: new Uint8Array(50_000).fill(id) });
    await store.updateRun({ run: id, patch: { state: 'stopped', startedAt: 1, endedAt: 2 } });
  }
  await store.deleteRuns({ runs: [3] });
  await store.close();
}

/** The system's dialogs answer with a file. */
async function answerDialogs({ electron }: App, file: string): Promise<void> {
  await electron.evaluate(({ dialog }, filePath) => {
    Object.assign(dialog, {
      showSaveDialog: async () => ({ canceled: false, filePath }),
      showOpenDialog: async () => ({ canceled: false, filePaths: [filePath] }),
    });
  }, file);
}

async function resize({ page }: App, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
}

test('backup and restore, the history looked at, room on the disk; groups, views and words of settings', async () => {
  await makeHome();
  const app = await launch({ home });
  const { page } = app;
  const file = path.join(home, 'kept.tar');
  await callService(app, 'runs', {});
  await answerDialogs(app, file);
  await page.getByRole('link', { name: 'Runs 2' }).click();
  await expect(page.getByText('walrus').first()).toBeVisible();

  await test.step('runs are found by their settings, put into a group, and the view is kept', async () => {
    const search = page.getByRole('searchbox', { name: 'Search runs' });
    await search.fill('"learning rate 0.001" walrus');
    await expect(page.getByRole('status').filter({ hasText: '1 of 2 runs' })).toBeVisible();
    await search.fill('');
    await page.getByRole('checkbox', { name: 'Select puffin' }).check();
    await page.getByRole('button', { name: 'Group…' }).click();
    await page.getByRole('textbox', { name: 'Group' }).fill('Winter');
    await page.getByRole('button', { name: 'Put into the group' }).click();
    await expect.poll(async () => (await callService<FoundRuns>(app, 'runs', { group: 'Winter' })).total).toBe(1);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Winter' }).click();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('status').filter({ hasText: '1 of 2 runs' })).toBeVisible();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Keep this view…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Winter runs');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the filter Winter' }).click();
    await expect(page.getByRole('status').filter({ hasText: /^2 runs/ })).toBeVisible();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Winter runs' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 of 2 runs' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Winter runs' })).toBeVisible();
    await page.keyboard.press('Escape');
  });

  const told = async (title: string, text: RegExp): Promise<void> => {
    const dialog = page.getByRole('dialog', { name: title });
    await expect(dialog).toContainText(text);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  };
  await test.step('a backup is written and read again', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('row', { name: /^Trash .* 1 run, each removed after 30 days/ })).toBeVisible();
    await expect(page.getByRole('row', { name: /^Checkpoints 100 kB/ })).toBeVisible();
    for (const width of [1100, 1440, 1920]) {
      await resize(app, width);
      await screenshot(app, `settings-history-${width}`);
    }
    await page.getByRole('button', { name: 'Back up…' }).click();
    await told('The backup is written.', /3\sruns, \d+\skB, in .*kept\.tar\. All of it was read again/);
    expect(fs.statSync(file).size).toBeGreaterThan(150_000);
  });
  await test.step('the trash is emptied, the history looked at', async () => {
    await page.getByRole('button', { name: 'Empty… (Trash)' }).click();
    await page.getByRole('button', { name: 'Remove for good' }).click();
    await expect(page.getByRole('row', { name: /^Trash/ })).toBeHidden();
    await page.getByRole('button', { name: 'Check the history' }).click();
    await told('The history is whole.', /there is nothing to repair/);
  });
  await test.step('the backup comes back; what was there is kept; the window shows it', async () => {
    await page.getByRole('button', { name: 'Restore…' }).click();
    await page.getByRole('dialog', { name: 'Restore kept.tar?' }).getByRole('button', { name: 'Restore' }).click();
    await told('The backup is restored.', /3\sruns of [\s\S]*What was here before is kept in .*before-restore-/);
    await expect(page.getByRole('row', { name: /^Trash .* 1 run/ })).toBeVisible();
    await expect(page.getByRole('row', { name: /^Set aside for safety/ })).toBeVisible();
    expect((await callService<FoundRuns>(app, 'runs', { deleted: true })).total).toBe(1);
    await page.getByRole('button', { name: 'Take up runs…' }).click();
    await told('Nothing new was in the file.', /2 runs \(1, 2\) are here already/);
  });
  await test.step('the page of a run in the trash says so, and brings it back', async () => {
    await page.evaluate(() => (location.hash = '#run/3'));
    await expect(page.getByText('In the trash', { exact: true })).toBeVisible();
    await screenshot(app, 'run-in-trash');
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await expect(page.getByText('In the trash', { exact: true })).toBeHidden();
    expect((await callService<FoundRuns>(app, 'runs', { deleted: true })).total).toBe(0);
  });
  await app.close();
});
