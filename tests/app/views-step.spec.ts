// The tab Step time of a finished run: measured when asked for, cancelled, walked through by keyboard, zoomed, shown as a table.

import path from 'node:path';
import { violations } from './axe.ts';
import { callService, expect, root, screenshot, testsOfOneApp } from './launch.ts';
import type { StepProfile } from '../../engine/protocol/step-profile.ts';
import { importTable, processIds, startRun, waitForState } from './scene.ts';

const test = testsOfOneApp();

test('a step of a run is taken apart: as a drawing, as tables, by keyboard', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, path.join(root, 'samples/penguins.csv'));
  const { id } = await startRun(app, dataset, 3, 'penguins');
  await waitForState(app, id, 'completed');
  await page.evaluate((run) => (location.hash = `#run/${run}/step`), id);
  const measure = page.getByRole('button', { name: 'Measure a step', exact: true });

  // Cancelled: its process is gone, and nothing is shown.
  await measure.click();
  await expect(page.getByRole('progressbar', { name: 'Measuring a step' })).toBeVisible();
  await page.getByRole('tabpanel').getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(measure).toBeVisible();
  await expect.poll(() => processIds(app, 'training')).toEqual([]);
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);

  await measure.click();
  const chart = page.getByRole('slider', { name: 'Parts of the step' });
  await expect(chart).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('region', { name: 'Where a step goes' })).toContainText(
    / a step on one thread; \d+ calls/,
  );
  await expect(page.getByRole('list', { name: 'Time by what holds it back' })).toHaveText(
    /memory \d+\s%\s*computing \d+\s%\s*overhead \d+\s%/,
  );

  // The tables hold what the process measured: as many calls as the command line shows.
  const calls = page.getByRole('table', { name: 'Calls by their time' });
  const kernels = page.getByRole('table', { name: 'Kernels by their time' });
  const said = await page.getByRole('region', { name: 'Where a step goes' }).innerText();
  const count = Number(/(\d+) calls/.exec(said)?.[1]);
  await expect(calls).toHaveAttribute('aria-rowcount', String(count + 1));
  await expect(calls.getByRole('row').nth(1)).toHaveText(/(memory|computing|overhead)$/);

  // Down to a kernel, to its calls, and zoomed to it.
  await chart.focus();
  await expect(chart).toHaveAttribute('aria-valuetext', /^The whole step takes/);
  await page.keyboard.press('ArrowDown');
  const first = (await kernels.getByRole('row').nth(1).innerText()).trim().split(/\s/)[0];
  await expect(chart).toHaveAttribute('aria-valuetext', new RegExp(`^${first} · calls \\d+ · time `));
  await page.keyboard.press('ArrowRight');
  await expect(chart).toHaveAttribute('aria-valuenow', '2');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'All kernels' })).toBeVisible();
  await expect(calls.getByRole('row').nth(1)).toContainText(`: ${first}`);
  await page.keyboard.press('ArrowDown');
  await expect(chart).toHaveAttribute('aria-valuetext', new RegExp(`: ${first} · time .* held back by `));
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'All kernels' })).toHaveCount(0);

  // Where a button goes that was pressed, the keyboard goes on at what is there instead.
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'All kernels' }).press('Enter');
  await expect(chart).toBeFocused();
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
  await page.getByRole('button', { name: 'Measure again' }).press('Enter');
  await expect(cancel).toBeFocused();
  await cancel.press('Enter');
  await expect(page.getByRole('button', { name: 'Measure again' })).toBeFocused();

  for (const width of [1100, 1440, 1920]) {
    await (await app.electron.browserWindow(page)).evaluate((window, w) => window.setContentSize(w, 900), width);
    await page.waitForFunction((wanted) => Math.abs(innerWidth - wanted) < 3, width);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await screenshot(app, `step-${width}-${colorScheme}`);
      expect(await violations(page, '[role=tabpanel]')).toEqual([]);
    }
  }

  // T: the figures in place of the drawing. What was measured stays while tabs change.
  await chart.focus();
  await page.keyboard.press('t');
  await expect(page.getByRole('table', { name: 'Where a step goes as a table' })).toHaveAttribute(
    'aria-rowcount',
    String(count + 1),
  );
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('tab', { name: 'Step time' }).click();
  await expect(chart).toBeVisible();

  // What nobody waits for any more ends with the page.
  await page.getByRole('button', { name: 'Measure again' }).press('Enter');
  await expect.poll(() => processIds(app, 'training')).not.toEqual([]);
  await page.evaluate(() => (location.hash = '#runs'));
  await expect.poll(() => processIds(app, 'training')).toEqual([]);
  await page.evaluate((run) => (location.hash = `#run/${run}/step`), id);
  await measure.press('Enter');
  await expect(cancel).toBeFocused();
  await cancel.press('Enter');
  await expect(measure).toBeFocused();

  // One at a time, of runs there are.
  await expect(callService(app, 'profileRun', { job: 'none', run: 99 })).rejects.toThrow(/no run 99/);
  // Cancelled before anything is known of the run.
  const early = callService(app, 'profileRun', { job: 'early', run: id });
  await Promise.all([
    expect(early).rejects.toThrow(/was cancelled/),
    callService(app, 'cancelProfile', { job: 'early' }),
  ]);
  const both = await Promise.allSettled([
    callService<StepProfile>(app, 'profileRun', { job: 'one', run: id }),
    callService<StepProfile>(app, 'profileRun', { job: 'two', run: id }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find((one) => one.status === 'rejected');
  expect(String(refused?.reason)).toMatch(/being measured already/);
});
