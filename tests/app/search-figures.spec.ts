// The page of a search against the history, figure by figure: while it goes on, when it has ended, when it was stopped, and after a restart.

import fs from 'node:fs';
import { callService, expect, launch, screenshot, test, type App } from './launch.ts';
import { importTable, waitForState, writeTable } from './scene.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { byQuality, type Trial } from '../../engine/protocol/search.ts';

const space = {
  trees: 30,
  learningRate: { kind: 'float', low: 0.02, high: 0.5, log: true },
  leaves: { kind: 'integer', low: 2, high: 64, log: true },
};

function startSearch(app: App, dataset: DatasetInfo, own: object): Promise<RunRecord> {
  const usual = { of: 'boosted', trials: 0, minutes: 0, sampler: 'tpe', asha: true, parts: 0, parallel: 1 };
  const common = { dataset: dataset.id, settings: dataset.settings, device: 'auto', threads: 1, seed: 3 };
  const search = { ...usual, space: JSON.stringify(space), ...own };
  return callService<RunRecord>(app, 'startRun', {
    name: 'points search',
    config: { ...common, learner: 'search', search },
  });
}

const runOf = (app: App, run: number): Promise<RunRecord> => callService<RunRecord>(app, 'run', { run });
const trialsOf = (app: App, run: number): Promise<readonly Trial[]> => callService(app, 'trials', { run });
const open = (app: App, run: number): Promise<void> =>
  app.page.evaluate((id) => void (location.hash = `#run/${id}`), run);

/** What the page says of a search that stands still is what the history has. */
async function agrees(app: App, run: number): Promise<void> {
  const { page } = app;
  const [{ result }, trials] = [await runOf(app, run), await trialsOf(app, run)];
  const found = result!.search!;
  const count = (state: Trial['state']): number => trials.filter((trial) => trial.state === state).length;
  expect([found.trials, found.completed, found.stopped, found.failed]).toEqual([
    trials.length,
    count('completed'),
    count('stopped'),
    count('failed'),
  ]);
  const ranked = trials.filter(({ state }) => state === 'completed').toSorted(byQuality);
  expect(found.best?.trial).toBe(ranked[0].trial);
  const pane = page.getByRole('region', { name: 'Trials', exact: true });
  await expect(pane).toContainText(`${count('completed')} completed, ${count('stopped')} stopped`);
  await expect(
    page.getByRole('img', { name: new RegExp(`^log loss of ${trials.length} trials; the best is`) }),
  ).toBeVisible();
  const rows = page.getByRole('region', { name: 'Table of trials' }).locator('tbody tr');
  await expect(rows).toHaveCount(Math.min(50, ranked.length));
  const cells = await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  cells.forEach(([number, score, rate, leaves], at) => {
    const trial = ranked[at];
    expect(number).toBe(String(trial.trial));
    expect(Math.abs(Number(score) - trial.score!)).toBeLessThan(1e-3 * Math.max(1, trial.score!));
    expect(Math.abs(Number(rate) / Number(trial.settings['learningRate']) - 1)).toBeLessThan(6e-3);
    expect(leaves).toBe(String(trial.settings['leaves']));
  });
  const shares = page.getByRole('region', { name: 'Shares of settings' }).locator('li');
  if (found.importance === null) await expect(page.getByText(/^Importance needs 6 trials/)).toBeVisible();
  else {
    const single = Object.values(found.importance.single).map((share) => `${Math.round(100 * share)} %`);
    const shown = await shares
      .filter({ has: page.getByRole('button') })
      .locator('b')
      .allTextContents();
    expect(shown.sort()).toEqual(single.sort());
  }
}

/** Each trial that is drawn, in order: its places on the axes and, where it came to its end, on that of the scores. */
async function drawnAsKept({ page }: App, trials: readonly Trial[]): Promise<void> {
  const picture = page.getByRole('img', { name: /^Settings of/ });
  const axes = await picture
    .locator('line.axis')
    .evaluateAll((all) => all.map((line) => ['y1', 'y2', 'x1'].map((name) => Number(line.getAttribute(name)))));
  const path = (await picture.locator('path.line').first().getAttribute('d')) ?? '';
  const lines = path
    .split('M')
    .slice(1)
    .map((line) => line.split('L').map((point) => point.split(' ').map(Number)));
  expect(lines.length).toBe(trials.length);
  const [[top, bottom]] = axes;
  const { learningRate: rate, leaves } = space;
  trials.forEach(({ state, settings }, index) => {
    const at = (value: number, low: number, high: number): number => Math.log(value / low) / Math.log(high / low);
    const many = Number(settings['leaves']);
    // A whole number stands in the middle of what is rounded to it.
    const [from, to] = [leaves.low - 0.5, leaves.high + 0.5];
    const places = [
      at(Number(settings['learningRate']), rate.low, rate.high),
      (at(many - 0.5, from, to) + at(many + 0.5, from, to)) / 2,
    ];
    places.forEach((place, axis) => {
      expect(Math.abs(lines[index][axis][0] - axes[axis][2])).toBeLessThan(0.1);
      expect(Math.abs(lines[index][axis][1] - (bottom - place * (bottom - top)))).toBeLessThan(0.1);
    });
    expect(lines[index].length).toBe(state === 'completed' ? 3 : 2);
  });
}

/** While it goes on: what the page lists is in the history as it stands there, and it counts what was there a moment ago. */
async function agreesAtWork(app: App, run: number): Promise<void> {
  const before = await trialsOf(app, run);
  const told = app.page.getByRole('img', { name: /^log loss of/ });
  const countOf = async (): Promise<number> =>
    Number(/of ([\d,]+) trials/.exec((await told.getAttribute('aria-label')) ?? '')?.[1].replace(',', ''));
  await expect.poll(countOf).toBeGreaterThanOrEqual(before.length);
  const count = await countOf();
  const rows = app.page.getByRole('region', { name: 'Table of trials' }).locator('tbody tr');
  const cells = await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const after = await trialsOf(app, run);
  expect(count).toBeLessThanOrEqual(after.length);
  expect(cells.length).toBeGreaterThan(0);
  for (const [number, score, rate, leaves] of cells) {
    const trial = after.find((one) => String(one.trial) === number)!;
    expect(Math.abs(Number(score) - trial.score!)).toBeLessThan(1e-3 * Math.max(1, trial.score!));
    expect(Math.abs(Number(rate) / Number(trial.settings['learningRate']) - 1)).toBeLessThan(6e-3);
    expect(leaves).toBe(String(trial.settings['leaves']));
  }
}

test('what the page of a search says is what the history has: at its end, with few trials whole, stopped, and after a restart', async () => {
  test.setTimeout(180_000);
  const app = await launch();
  try {
    const dataset = await importTable(app, writeTable(app.home, 400));
    const { id } = await startSearch(app, dataset, { trials: 14 });
    await waitForState(app, id, 'completed');
    await open(app, id);
    await expect(app.page.getByRole('region', { name: 'Shares of settings' })).toBeVisible();
    await agrees(app, id);
    await drawnAsKept(app, await trialsOf(app, id));

    const stopped = await startSearch(app, dataset, { minutes: 10, parallel: 2 });
    await open(app, stopped.id);
    await expect.poll(async () => (await trialsOf(app, stopped.id)).length, { timeout: 60_000 }).toBeGreaterThan(30);
    await screenshot(app, 'figures-live');
    await agreesAtWork(app, stopped.id);
    await callService(app, 'stopRun', { run: stopped.id });
    await waitForState(app, stopped.id, 'stopped');
    await agrees(app, stopped.id);
    // Of ten minutes it had some seconds.
    await expect(app.page.getByText('100 %', { exact: true })).toHaveCount(0);
    await screenshot(app, 'figures-stopped');
    await app.close();

    const again = await launch({ home: app.home });
    try {
      await open(again, stopped.id);
      await agrees(again, stopped.id);
      await screenshot(again, 'figures-again');
    } finally {
      await again.close();
    }
  } finally {
    await app.close().catch(() => undefined);
    fs.rmSync(app.home, { recursive: true, force: true });
  }
});
