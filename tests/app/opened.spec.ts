// The app as a desktop starts it: with files to open, on its command line or by a second start, and with files of its own.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { callService, electronChoice, expect, launch, root, saveNextAs, test } from './launch.ts';
import { importTable, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';

const sample = path.join(root, 'samples', 'penguins.csv');

test('what it is opened with is taken up: at its start, by a second start, from another folder', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-opened-'));
  fs.copyFileSync(sample, path.join(folder, 'first one.csv'));
  fs.writeFileSync(
    path.join(folder, '-second 表 🐧.csv'),
    fs.readFileSync(sample, 'utf8').replaceAll('Torgersen', 'Dream'),
  );
  fs.symlinkSync('circle.csv', path.join(folder, 'circle.csv'));
  const app = await launch({ args: [path.join(folder, 'first one.csv'), path.join(folder, 'circle.csv')] });
  const { page, home } = app;
  await expect(page.getByRole('heading', { name: 'first one' })).toBeVisible();
  await expect(page.getByText('circle.csv leads nowhere: its links lead in a circle.')).toBeVisible();

  // A name that begins like a switch is one where its folder stands before it.
  const choice = electronChoice();
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const absolute = choice.args.map((argument) => (argument === '.' ? root : argument));
  const second = spawn(choice.executable, [...absolute, ...asRoot, './-second 表 🐧.csv', 'not-there.csv'], {
    cwd: folder,
    env: { ...process.env, TRAINYARD_HOME: home },
  });
  const code = await new Promise((resolve) => second.once('exit', resolve));
  expect(code).toBe(0);
  await expect(page.getByRole('heading', { name: '-second 表 🐧' })).toBeVisible();
  await expect(page.getByText('not-there.csv was to be opened, and there is no such file or folder.')).toBeVisible();
  await page
    .getByRole('link', { name: /Datasets/ })
    .first()
    .click();
  await expect(page.getByRole('row')).toHaveCount(3);

  // The menu has both, and opens them like any other file.
  const opened = await app.electron.evaluate(({ Menu }) => {
    const file = Menu.getApplicationMenu()?.items.find(({ label }) => label === 'File');
    const items = file?.submenu?.items.find(({ label }) => label === 'Open recent')?.submenu?.items ?? [];
    items[0]?.click();
    return items.map(({ label }) => label);
  });
  expect(opened[0]).toBe('-second 表 🐧.csv');
  expect(opened).toHaveLength(4);
  await expect(page.getByRole('heading', { name: '-second 表 🐧' })).toBeVisible();
  await app.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** What the system was told, noted where the main process tells it. */
interface Told {
  readonly bars: number[];
  awake: number;
}

test('while a run trains the system is told: how far it is, and to stay awake unless a person has said no', async ({
  app,
}) => {
  const { electron, page } = app;
  await electron.evaluate(({ powerSaveBlocker }) => {
    const told: Told = { bars: [], awake: 0 };
    (globalThis as unknown as { told: Told }).told = told;
    const { start, stop } = powerSaveBlocker;
    powerSaveBlocker.start = (kind) => {
      told.awake += 1;
      return start.call(powerSaveBlocker, kind);
    };
    powerSaveBlocker.stop = (id) => {
      told.awake -= 1;
      return stop.call(powerSaveBlocker, id);
    };
  });
  // Not the first of all windows: the hidden one that looks for a GPU may be.
  await (
    await electron.browserWindow(page)
  ).evaluate((window) => {
    const { told } = globalThis as unknown as { told: Told };
    window.setProgressBar = (share: number) => void told.bars.push(share);
  });
  const told = (): Promise<Told> => electron.evaluate(() => (globalThis as unknown as { told: Told }).told);
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const first = await startRun(app, dataset, 20_000);
  await expect.poll(async () => (await told()).awake).toBe(1);
  await expect.poll(async () => (await told()).bars.some((share) => share > 0 && share < 1)).toBe(true);
  await callService(app, 'stopRun', { run: first.id });
  await expect.poll(async () => (await told()).awake).toBe(0);
  await expect.poll(async () => (await told()).bars.at(-1)).toBe(-1);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('checkbox', { name: 'Keep this computer awake' }).click();
  const second = await startRun(app, dataset, 100_000);
  await waitForEpoch(app, second.id, 2);
  expect((await told()).awake).toBe(0);
  await callService(app, 'stopRun', { run: second.id });
  // A run that still works would be asked about when the app is closed.
  await waitForState(app, second.id, 'stopped');
});

test('a file of its own brings the runs that are in it', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 200));
  const run = await startRun(app, dataset, 1, 'carried');
  await waitForState(app, run.id, 'completed');
  const file = path.join(app.home, 'carried.trainyard');
  await saveNextAs(app, file);
  await callService(app, 'exportRuns', { job: 'out', runs: [run.id], datasets: true });

  const other = await launch({ args: [file] });
  await expect(other.page.getByText('carried.trainyard: Run 1: carried, run 1 of', { exact: false })).toBeVisible();
  await expect(other.page.getByRole('heading', { level: 1 })).toHaveText('Runs');
  await other.close();
});
