// The window stays quick: what it does is counted, and bounded by what is in sight and by the clocks that pace it, however
// many runs there are and however fast they train. Such counts are the same on every machine; how many milliseconds it
// all takes is timed by tests/app/window-bench.ts.

import fs from 'node:fs';
import type { Locator } from '@playwright/test';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { LogLine } from '../../engine/protocol/runs.ts';
import { callService, drawn, dropFiles, expect, launch, test } from './launch.ts';
import { homeWithRuns, longRun, longSearch, writeWideTable } from './large-scenes.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';
import { watchWork, type Work } from './work.ts';

/** Rows of the runs table that are asked for at once, and most that a window of this size shows. */
const pageOfRuns = 100;
const rowsInSight = 40;

const callsOf = ({ calls }: Work, ...names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (calls[name] ?? 0), 0);

/** A turn a frame, each past a page. `rests`: turns that came so late that the list may have taken it for a rest. */
const scrollQuickly = (list: Locator): Promise<{ turns: number; drawnRows: number; rests: number }> =>
  list.evaluate(async (element) => {
    const turns = 60;
    const late = 70;
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    let [top, drawnRows, rests, before] = [0, 0, 0, performance.now()];
    for (let i = 0; i < turns; i++) {
      element.scrollTop = top += 4000;
      await frame();
      if (performance.now() - before > late) rests++;
      before = performance.now();
      drawnRows = Math.max(drawnRows, element.querySelectorAll('[role=row]').length);
    }
    return { turns, drawnRows, rests };
  });

test('10,000 runs: what is asked and drawn is what is in sight', async () => {
  test.setTimeout(180_000);
  const home = await homeWithRuns();
  const app = await launch({ home });
  const { page } = app;
  await expect(page.getByRole('link', { name: 'Runs' })).toBeVisible();
  const { read, waitForAnswers } = await watchWork(app);
  const away = async (): Promise<void> => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    // What the window asks when it starts has been answered.
    await expect(page.getByRole('link', { name: 'Runs 10 k' })).toBeVisible();
    await drawn(page);
    await read();
  };
  await away();
  const grid = page.getByRole('grid', { name: 'Runs' });
  const first = grid.locator('[aria-rowindex="2"]');
  const search = page.getByRole('searchbox', { name: 'Search runs' });

  const listed: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
    ['opened', () => page.getByRole('link', { name: 'Runs' }).click(), /run 10000/],
    ['sorted', () => page.getByRole('button', { name: 'Best accuracy' }).click(), /0\.9990/],
    ['filtered', () => search.focus().then(() => page.keyboard.insertText('run 9876')), /run 9876/],
    ['all shown again', () => search.fill(''), /0\.9990/],
  ];
  for (const [what, act, expected] of listed) {
    await act();
    await expect(first).toContainText(expected);
    await drawn(page);
    // The curves of these rows, not of those that are shown next.
    await waitForAnswers('metrics');
    const work = await read();
    expect(work.calls, `${what}: one question`).toMatchObject({ runs: 1 });
    expect(callsOf(work, 'metrics'), `${what}: curves of what is in sight`).toBeLessThanOrEqual(rowsInSight);
    expect(work.largestMessage, `${what}: one page of runs is told`).toBeLessThan(1_500 * pageOfRuns);
    expect(work.added, `${what}: elements`).toBeLessThan(50 * rowsInSight);
    expect(work.layouts, `${what}: layouts`).toBeLessThan(30);
  }

  // A quick scroll through two thirds of the list: no page that is scrolled past is fetched.
  const { turns, drawnRows, rests } = await scrollQuickly(grid);
  await expect(grid.getByRole('row').last()).toContainText(/run \d/);
  await drawn(page);
  const scrolled = await read();
  expect(drawnRows).toBeLessThanOrEqual(rowsInSight);
  expect(callsOf(scrolled, 'runs'), 'where the scrolling began and rested').toBeLessThanOrEqual(2 * (2 + rests));
  expect(scrolled.waiting['runs'], 'pages asked for at the same time').toBeLessThanOrEqual(2);
  expect(callsOf(scrolled, 'metrics')).toBeLessThanOrEqual((2 + rests) * rowsInSight);
  // Rows are written over, not made anew: only what differs between rows (a mark, a curve) is put in.
  expect(scrolled.added / turns, 'elements a turn of the wheel').toBeLessThan(10 * rowsInSight);
  expect(scrolled.layouts / turns, 'layouts a turn of the wheel').toBeLessThan(8);

  // A curve of 50,000 points: no more of it are told and drawn than there are pixels.
  await away();
  await page.evaluate(() => (location.hash = '#run/2'));
  await expect(page.getByRole('heading', { level: 1, name: longRun.name })).toBeVisible();
  await expect(page.getByRole('slider', { name: 'Loss chart' })).toHaveAttribute('aria-valuetext', /validation/);
  await drawn(page);
  const pixels = await page
    .locator('canvas')
    .evaluateAll((all) => Math.max(...all.map((canvas) => canvas.clientWidth)));
  const long = await read();
  expect(long.calls).toMatchObject({ run: 1, metrics: 1, log: 1, evaluation: 1 });
  expect(long.largestMessage).toBeLessThan(longRun.steps * 30);
  expect(long.drawings['Loss chart']).toBeLessThanOrEqual(4);
  // Two lines of at most two points a pixel, and a band with two at every third.
  expect(long.points).toBeLessThanOrEqual((2 * 2 + 2 / 3) * pixels + 100);

  // A search of 10,000 trials: told in pages, drawn once, and no more of it than people can tell apart.
  await away();
  await page.evaluate((run) => (location.hash = `#run/${run}`), longSearch.run);
  await expect(page.getByRole('img', { name: /Settings of 10,000 trials/ })).toBeVisible();
  await drawn(page);
  const searched = await read();
  // Ten full pages and an empty one; the board may ask again when the record is told.
  expect(callsOf(searched, 'trials')).toBeGreaterThan(10);
  expect(callsOf(searched, 'trials')).toBeLessThan(14);
  expect(searched.largestMessage).toBeLessThan(1_000 * 400);
  expect(searched.added, 'elements of the board').toBeLessThan(2_000);
  const strokes = await page
    .locator('.search svg path')
    .evaluateAll((paths) => paths.reduce((sum, path) => sum + (path.getAttribute('d') ?? '').split('M').length - 1, 0));
  expect(strokes, 'points of two panes, lines of the third').toBeLessThan(2 * 2 * 2_000 + 500);
  expect(strokes).toBeGreaterThan(2_000);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true });
});

test('training and an import of 85 MB: the window asks, draws and lays out by its own clock', async ({ app }) => {
  test.setTimeout(120_000);
  const { page, home } = app;
  const dataset: DatasetInfo = await importTable(app, writeTable(home, 4000));
  const { id } = await startRun(app, dataset, 100_000);
  await page.evaluate((run) => {
    location.hash = `#run/${run}`;
  }, id);
  await expect(page.getByRole('slider', { name: 'Loss chart' })).toHaveAttribute('aria-valuetext', /validation/);
  const { read, waitForReports } = await watchWork(app);
  await waitForReports(4);
  const linesOfLog = async (): Promise<number> =>
    (await callService<readonly LogLine[]>(app, 'log', { run: id })).length;
  const linesBefore = await linesOfLog();
  await read();
  await waitForReports(20);
  const training = await read();
  const newLines = (await linesOfLog()) - linesBefore;
  const { seconds } = training;
  // Hundreds of epochs a second are told twice a second by the clock of the training itself, and with each checkpoint:
  // the states of epochs that are kept for good come once in two seconds at most …
  expect(training.events['onReport']).toBeLessThanOrEqual((2.05 + 0.5) * training.trained + 3);
  // … drawn once a second, by that of the page; the figures of the record are looked at half as often.
  for (const chart of ['Loss chart', 'Accuracy chart'])
    expect(training.drawings[chart], chart).toBeLessThanOrEqual(1.15 * seconds + 2);
  expect(callsOf(training, 'run')).toBeLessThanOrEqual(seconds / 2 + 2);
  expect(callsOf(training, 'evaluation')).toBeLessThanOrEqual(seconds / 2 + 2);
  // The log is asked for when it has new lines, and for those alone.
  expect(callsOf(training, 'log')).toBeLessThanOrEqual(newLines + 2);
  expect(training.answers['log'] ?? 0).toBeLessThanOrEqual(250 * (newLines + 2));
  // Nothing that the lists of runs show has changed but for what is reported.
  expect(callsOf(training, 'runs')).toBeLessThanOrEqual(2);
  // Curves grow by what is reported; those of a very fast machine are thinned once.
  expect(callsOf(training, 'metrics')).toBeLessThanOrEqual(1);
  const known = ['run', 'evaluation', 'log', 'runs', 'metrics'];
  expect(Object.keys(training.calls).filter((name) => !known.includes(name))).toEqual([]);
  expect(training.added, 'no element is made anew while figures change').toBeLessThanOrEqual(20);
  const changes = Math.min(4 * seconds, training.events['onRunsChanged'] ?? 0) + 2;
  expect(training.layouts).toBeLessThanOrEqual(6 * (training.events['onReport'] + changes));

  // In the table its row is looked at once a second, where else its progress is shown nothing is asked.
  for (const [view, often] of [
    ['Runs', 1],
    ['Datasets', 0],
  ] as const) {
    await page.evaluate((name) => (location.hash = `#${name.toLowerCase()}`), view);
    await expect(page.getByRole('heading', { level: 1, name: view })).toBeVisible();
    await drawn(page);
    await read();
    await waitForReports(8);
    const shown = await read();
    expect(callsOf(shown, 'runs'), view).toBeLessThanOrEqual(often * shown.seconds + 2);
    expect(callsOf(shown, 'run', 'log', 'evaluation', 'tags'), view).toBeLessThanOrEqual(2);
  }
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');

  const file = writeWideTable(home, 500_000);
  await page.evaluate(() => (location.hash = '#datasets'));
  await expect(page.getByRole('heading', { level: 1, name: 'Datasets' })).toBeVisible();
  await drawn(page);
  await read();
  await dropFiles(app, file);
  // Not by role while it counts: finding roles is work in the page itself.
  const filled = (): boolean => document.querySelectorAll('[role=cell]').length > 100;
  await page.waitForFunction(filled, undefined, { polling: 500, timeout: 60_000 });
  await expect(page.getByRole('heading', { level: 1, name: 'wide' })).toBeVisible();
  const importing = await read();
  expect(callsOf(importing, 'importPath', 'rows')).toBe(2);
  // Nothing of the file but the rows in sight passes through the page.
  expect(importing.received).toBeLessThan(100_000);
  expect(importing.events['onProgress']).toBeLessThanOrEqual(10 * importing.seconds + 2);
  expect(importing.layouts).toBeLessThanOrEqual(4 * (importing.events['onProgress'] ?? 0) + 60);
});
