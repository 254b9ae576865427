// The page of a run that trains: where its axis ends, and how seldom it is drawn.

import type { RunRecord } from '../../engine/protocol/runs.ts';
import { callService, expect, screenshot, test } from './launch.ts';
import { importTable, runConfig, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';

test('the axis of a run that is to be done by a time ends where its plan does', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 4000));
  const usual = runConfig(dataset, 1_000_000);
  // It gives the epochs up that its settings have: it makes as many as there is time for.
  const config = { ...usual, until: Date.now() + 8_000 };
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'By a time', config });
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  await waitForEpoch(app, id, 3);
  const axisEnd = async (): Promise<number> =>
    Number(await page.getByRole('slider', { name: 'Loss chart' }).getAttribute('aria-valuemax'));
  // The plan changes with the pace, and the page hears of it a moment before or after the history.
  await expect
    .poll(async () => {
      const { progress } = await callService<RunRecord>(app, 'run', { run: id });
      return Math.abs((await axisEnd()) / progress!.epochs - 1);
    })
    .toBeLessThan(0.05);
  const { progress, state } = await callService<RunRecord>(app, 'run', { run: id });
  expect(state).toBe('running');
  expect(progress!.epochs).toBeGreaterThan(progress!.epoch);
  expect(progress!.epochs).toBeLessThan(1_000_000);
  await screenshot(app, 'run-until');
  const { result } = await waitForState(app, id, 'completed');
  await expect.poll(axisEnd).toBe(result!.epochs);
  await screenshot(app, 'run-until-done');
});

test('curves are drawn once a second at most, however many points come; the best is shown with the first of them', async ({
  app,
}) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  const { id } = await startRun(app, dataset, 1_000_000);
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  await page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  await waitForEpoch(app, id, 20);
  await expect(page.getByText('Results appear after the first epoch.')).toHaveCount(0, { timeout: 1500 });
  const drawn = await page.evaluate(async (seconds) => {
    const { prototype } = CanvasRenderingContext2D;
    const clear = Object.getOwnPropertyDescriptor(prototype, 'clearRect')!.value as (...box: number[]) => void;
    const counts = new Map<HTMLCanvasElement, number>();
    prototype.clearRect = function (this: CanvasRenderingContext2D, ...box: number[]) {
      counts.set(this.canvas, (counts.get(this.canvas) ?? 0) + 1);
      clear.apply(this, box);
    };
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    prototype.clearRect = clear;
    return [...counts.values()];
  }, 3);
  expect(drawn.length).toBeGreaterThan(0);
  for (const times of drawn) {
    expect(times).toBeGreaterThan(0);
    // A report may come a tenth of a second early: four of them in three seconds, and one for the ends.
    expect(times).toBeLessThanOrEqual(5);
  }
  await callService(app, 'stopRun', { run: id });
  // The window would ask whether to quit while it trains.
  await waitForState(app, id, 'stopped');
});
