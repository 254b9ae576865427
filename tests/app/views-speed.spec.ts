// The window stays quick: 10,000 runs open, sort and filter in time, and its thread is never blocked for long while it
// trains, imports 85 MB or scrolls. Times are the page's own: they are printed always, and held to their limits where
// TRAINYARD_TIMES=1 says that the machine has nothing else to do. What must hold on any machine is asserted always: the
// right rows appear, and a table of 10,000 rows keeps only those in sight in the document.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { openDatabase } from '../../engine/history/database.ts';
import { createStore, databaseFileName } from '../../engine/history/store.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { newRun } from '../unit/fixtures/history.ts';
import { callService, drawn, dropFiles, expect, launch, test } from './launch.ts';
import { importTable, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';

const runCount = 10_000;
/** Milliseconds a person may wait for the table, and the window's thread may be busy at a stretch. */
const prompt = 200;
const blocked = 100;
const quiet = process.env['TRAINYARD_TIMES'] === '1';

function hold(what: string, milliseconds: number, limit: number): void {
  console.log(`${what}: ${Math.round(milliseconds)} ms, limit ${limit} ms`);
  if (quiet) expect.soft(milliseconds, what).toBeLessThan(limit);
}

/** A home with many ended runs of 50 series: one made by the store, the others copies of it with their own values. */
async function homeWithRuns(): Promise<string> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-many-'));
  const store = createStore(home);
  const { id } = await store.createRun(newRun({ name: 'run 1' }));
  const names = ['train_loss', 'val_loss', 'val_accuracy', ...Array.from({ length: 47 }, (_, i) => `metric_${i}`)];
  const steps = [1, 2, 3, 4];
  const points = steps.flatMap((step) =>
    names.map((series) => ({ series, step, epoch: step, seconds: step, value: 1 / step })),
  );
  await store.append({ run: id, points });
  await store.updateRun({ run: id, patch: { state: 'completed', device: 'cpu', startedAt: 1, endedAt: 2 } });
  await store.close();

  const database = openDatabase(path.join(home, databaseFileName));
  database.transaction(() =>
    database.execute(`
      WITH RECURSIVE number (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM number WHERE i < ${runCount})
      INSERT INTO run (name, state, dataset, dataset_name, device, created_at, started_at, ended_at, owner_pid,
                       owner_started_at, revision, search, config)
      SELECT 'run ' || i, state, dataset, 'table ' || (i % 20), device, created_at + i, started_at, i, owner_pid,
             owner_started_at, revision, 'run ' || i, config
      FROM run, number;
      INSERT INTO summary SELECT run.id, series, last, ((run.id * 7919 + series) % 997) / 997.0, 1 + run.id % 4
      FROM summary, run WHERE summary.run = 1 AND run.id > 1;
      INSERT INTO sample SELECT run.id, step, epoch, seconds, sample.data
      FROM sample, run WHERE sample.run = 1 AND run.id > 1;
    `),
  );
  database.close();
  // The seal is of the history as it was: without one, the app does not ask who changed it.
  fs.rmSync(path.join(home, `${databaseFileName}-seal`), { force: true });
  return home;
}

/** Lengths of the page's long tasks from now on; call the result to read and reset them. */
async function watchLongTasks(page: Page): Promise<() => Promise<readonly number[]>> {
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(globalThis, { longTasks: lengths });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) lengths.push(Math.round(entry.duration));
    }).observe({ entryTypes: ['longtask'] });
  });
  return () => page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks.splice(0));
}

/** Milliseconds from an action in the page until the first row of the table reads as expected. */
async function timeUntilFirstRow(page: Page, pattern: RegExp, act: () => Promise<void>): Promise<number> {
  const seen = page.evaluate((source) => {
    const started = { at: performance.now() };
    addEventListener('pointerdown', () => (started.at = performance.now()), { capture: true, once: true });
    addEventListener('input', () => (started.at = performance.now()), { capture: true, once: true });
    return new Promise<number>((resolve) => {
      const look = (): void => {
        const row = document.querySelector('[role=grid] [role=row][aria-rowindex="2"]');
        if (new RegExp(source).test(row?.textContent ?? '')) resolve(performance.now() - started.at);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  }, pattern.source);
  await act();
  return seen;
}

test('10,000 runs open, sort and filter promptly, and scroll without a stop', async () => {
  test.setTimeout(180_000);
  const home = await homeWithRuns();
  const app = await launch({ home });
  const { page } = app;
  await expect(page.getByRole('link', { name: 'Runs' })).toBeVisible();
  const longTasks = await watchLongTasks(page);
  const times: Record<string, number> = {};
  // Best of three: the machine may be busy with something else for a moment.
  const keep = (what: string, time: number): number => (times[what] = Math.min(times[what] ?? Infinity, time));
  const search = page.getByRole('searchbox', { name: 'Search runs' });
  for (let round = 0; round < 3; round++) {
    await page.getByRole('link', { name: 'Hardware' }).click();
    const open = (): Promise<void> => page.getByRole('link', { name: 'Runs' }).click();
    keep('open', await timeUntilFirstRow(page, /run 10000/, open));
    const sort = (): Promise<void> => page.getByRole('button', { name: 'Best accuracy' }).click();
    keep('sort', await timeUntilFirstRow(page, /1\.0000/, sort));
    await search.focus();
    const filter = (): Promise<void> => page.keyboard.insertText('run 9876');
    keep('filter', await timeUntilFirstRow(page, /run 9876/, filter));
    await expect(page.getByText('1 of 10,000 runs')).toBeVisible();
  }
  await search.fill('');

  await page.getByRole('grid', { name: 'Runs' }).hover();
  for (let i = 0; i < 30; i++) {
    await page.mouse.wheel(0, 1000 + 400 * i);
    await drawn(page);
  }
  const long = await longTasks();
  test.info().annotations.push({ type: 'milliseconds', description: JSON.stringify({ ...times, longTasks: long }) });
  for (const [what, time] of Object.entries(times)) hold(`${what} 10,000 runs`, time, prompt);
  hold('longest task with 10,000 runs', Math.max(0, ...long), blocked);
  expect(await page.getByRole('grid', { name: 'Runs' }).getByRole('row').count()).toBeLessThan(100);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true });
});

test('training and an import of 85 MB do not block the window', async ({ app }) => {
  test.setTimeout(120_000);
  const { page, home } = app;
  const dataset: DatasetInfo = await importTable(app, writeTable(home, 4000));
  const { id } = await startRun(app, dataset, 100_000);
  await page.evaluate((run) => {
    location.hash = `#run/${run}`;
  }, id);
  await expect(page.getByRole('slider', { name: 'Loss chart' })).toHaveAttribute('aria-valuetext', /validation/);
  const longTasks = await watchLongTasks(page);
  const { progress } = await callService<RunRecord>(app, 'run', { run: id });
  await waitForEpoch(app, id, (progress?.epoch ?? 0) + 500);
  const training = await longTasks();
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');

  await dropFiles(app, writeWideTable(home, 500_000));
  // Not by role while it counts: finding roles is work in the page itself.
  const filled = (): boolean => document.querySelectorAll('[role=cell]').length > 100;
  await page.waitForFunction(filled, undefined, { polling: 500, timeout: 60_000 });
  const importing = await longTasks();
  await expect(page.getByRole('heading', { level: 1, name: 'wide' })).toBeVisible();
  test.info().annotations.push({ type: 'long tasks', description: JSON.stringify({ training, importing }) });
  hold('longest task while training', Math.max(0, ...training), blocked);
  hold('longest task while importing 85 MB', Math.max(0, ...importing), blocked);
});

/** 20 numbers and a class a row: 500,000 rows are 85 MB. */
function writeWideTable(folder: string, rows: number): string {
  const file = path.join(folder, 'wide.csv');
  const columns = Array.from({ length: 20 }, (_, i) => `x${i}`);
  const out = fs.openSync(file, 'w');
  fs.writeSync(out, `${columns.join(',')},y\n`);
  let state = 1;
  const random = (): string => ((state = (state * 48271) % 2147483647) / 2147483647).toFixed(5);
  const block = 10_000;
  for (let first = 0; first < rows; first += block) {
    const lines = Array.from({ length: block }, (_, i) => `${columns.map(random).join(',')},${i % 2 ? 'a' : 'b'}`);
    fs.writeSync(out, lines.join('\n') + '\n');
  }
  fs.closeSync(out);
  return file;
}
