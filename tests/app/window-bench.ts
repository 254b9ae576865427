// How long the window makes a person wait, and how long its thread is busy at a stretch: with 10,000 runs, in training,
// in an import of 85 MB. The counts that keep it so are held by tests/app/views-speed.spec.ts on any machine; these times
// say something only where nothing else runs.
//
//   npm run bench:window [-- --rounds 5]

import fs from 'node:fs';
import { parseArgs } from 'node:util';
import type { Page } from '@playwright/test';
import { callService, drawn, dropFiles, launch, type App } from './launch.ts';
import { homeWithRuns, writeWideTable } from './large-scenes.ts';
import { importTable, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';

/** Milliseconds a person may wait for the table, and the window's thread may be busy at a stretch. */
const prompt = 200;
const blocked = 100;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);

function tell(what: string, times: readonly number[], limit: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]].map(Math.round);
  console.log(
    `${what.padEnd(40)} median ${middle} ms, ${least} to ${most}; limit ${limit}${middle > limit ? ': TOO LONG' : ''}`,
  );
  if (middle > limit) process.exitCode = 1;
}

/** Lengths of the page's long tasks from now on; call the result to read and reset the longest. */
async function watchLongTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(globalThis, { longTasks: lengths });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) lengths.push(entry.duration);
    }).observe({ entryTypes: ['longtask'] });
  });
  return () =>
    page.evaluate(() => Math.max(0, ...(globalThis as unknown as { longTasks: number[] }).longTasks.splice(0)));
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

async function manyRuns({ page }: App): Promise<void> {
  const longTask = await watchLongTasks(page);
  const search = page.getByRole('searchbox', { name: 'Search runs' });
  const times = { open: [] as number[], sort: [] as number[], filter: [] as number[], longest: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    await page.getByRole('link', { name: 'Settings' }).click();
    const open = (): Promise<void> => page.getByRole('link', { name: 'Runs' }).click();
    times.open.push(await timeUntilFirstRow(page, /run 10000/, open));
    const sort = (): Promise<void> => page.getByRole('button', { name: 'Best accuracy' }).click();
    times.sort.push(await timeUntilFirstRow(page, /1\.0000/, sort));
    await search.focus();
    const filter = (): Promise<void> => page.keyboard.insertText('run 9876');
    times.filter.push(await timeUntilFirstRow(page, /run 9876/, filter));
    await search.fill('');
    times.longest.push(await longTask());
  }
  await page.getByRole('grid', { name: 'Runs' }).hover();
  for (let i = 0; i < 30; i++) {
    await page.mouse.wheel(0, 1000 + 400 * i);
    await drawn(page);
  }
  const scrolling = await longTask();
  await page.getByRole('link', { name: 'Settings' }).click();
  const openAfter = await timeUntilFirstRow(page, /run 10000/, () => page.getByRole('link', { name: 'Runs' }).click());
  tell('10,000 runs: open', times.open, prompt);
  tell('10,000 runs: sort', times.sort, prompt);
  tell('10,000 runs: filter', times.filter, prompt);
  tell('10,000 runs: longest task', times.longest, blocked);
  tell('10,000 runs: longest task in scrolling', [scrolling], blocked);
  tell('10,000 runs: open after scrolling', [openAfter], prompt);
}

async function training(app: App): Promise<void> {
  const { page, home } = app;
  const dataset = await importTable(app, writeTable(home, 4000));
  const { id } = await startRun(app, dataset, 1_000_000);
  await page.evaluate((run) => {
    location.hash = `#run/${run}`;
  }, id);
  await page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  const longTask = await watchLongTasks(page);
  const longest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { progress } = await callService<RunRecord>(app, 'run', { run: id });
    await waitForEpoch(app, id, (progress?.epoch ?? 0) + 500);
    longest.push(await longTask());
  }
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
  tell('training: longest task', longest, blocked);
}

async function importing(app: App): Promise<void> {
  const { page, home } = app;
  const file = writeWideTable(home, 500_000);
  const longTask = await watchLongTasks(page);
  await dropFiles(app, file);
  // Not by role while it is timed: finding roles is work in the page itself.
  const filled = (): boolean => document.querySelectorAll('[role=cell]').length > 100;
  await page.waitForFunction(filled, undefined, { polling: 500, timeout: 120_000 });
  tell('import of 85 MB: longest task', [await longTask()], blocked);
}

async function inApp(home: string | undefined, work: (app: App) => Promise<void>): Promise<void> {
  const app = await launch({ home });
  try {
    await app.page.getByRole('link', { name: 'Settings' }).waitFor();
    await work(app);
  } finally {
    await app.close();
    fs.rmSync(app.home, { recursive: true, force: true });
  }
}

await inApp(await homeWithRuns(), manyRuns);
await inApp(undefined, training);
await inApp(undefined, importing);
