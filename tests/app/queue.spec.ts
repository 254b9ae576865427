// The queue in the window: its order is changed by dragging and by keys, it is paused, a run is taken out and put back, and it is there
// again, and goes on, when the program is closed in the middle and started anew.

import fs from 'node:fs';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { usableCores } from '../../engine/system/cores.ts';
import { answerDialog, callService, expect, launch, screenshot, test, type App } from './launch.ts';
import { homeWithQueue } from './large-scenes.ts';
import { importTable, oneAtATime, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';

test('runs wait in the order a person gives them, and outlive the program', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  await oneAtATime(app);
  const { id: training } = await startRun(app, dataset, 100_000);
  for (const name of ['one', 'two', 'three']) await startRun(app, dataset, 1, name);
  await waitForEpoch(app, training, 2);
  const { page } = app;
  await page.getByRole('link', { name: /^Queue/ }).click();
  const rows = page.getByRole('listbox', { name: 'Waiting' }).getByRole('option');
  await expect(rows).toHaveText([/one/, /two/, /three/]);

  // By keys.
  await rows.nth(2).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(rows).toHaveText([/one/, /three/, /two/]);
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(rows).toHaveText([/three/, /one/, /two/]);
  await page.keyboard.press('Control+z');
  await expect(rows).toHaveText([/one/, /three/, /two/]);
  // By the mouse: the last above the first.
  await rows.nth(2).dragTo(rows.nth(0), { targetPosition: { x: 60, y: 3 } });
  await expect(rows).toHaveText([/two/, /one/, /three/]);
  await expect(page.getByText(/are done then, by the forecasts/)).toBeVisible();
  await expect(rows.nth(0)).toContainText(/\d\d:\d\d – /);
  await screenshot(app, 'queue');

  // What it waits for.
  await rows.nth(0).click();
  await page.getByRole('button', { name: 'Wait for…' }).click();
  await page.getByLabel('Begin no earlier than').fill('25:00');
  await expect(page.getByText('This is no time.')).toBeVisible();
  await page.getByLabel('Begin no earlier than').fill('2099-12-24 22:30');
  await page.getByRole('button', { name: 'Wait', exact: true }).click();
  await expect(rows.nth(0)).toContainText('from');
  // A high priority puts it before all, and what is moved above it takes it.
  await rows.nth(2).click();
  await page.getByRole('button', { name: 'Wait for…' }).click();
  await page.getByLabel('Priority').selectOption('High: before all others');
  await page.getByRole('button', { name: 'Wait', exact: true }).click();
  await expect(rows).toHaveText([/three.*high priority/, /two/, /one/]);
  await rows.nth(1).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(rows).toHaveText([/two.*high priority, from/, /three.*high/, /one/]);
  await screenshot(app, 'queue-priorities');
  // Taken back, it has the priority that it had, though it might stand there with the high one too.
  await page.keyboard.press('Control+z');
  await expect(rows).toHaveText([/three.*high/, /two/, /one/]);
  await expect(rows.nth(1)).not.toContainText('high');
  for (const run of [3, 4]) await callService(app, 'changeQueue', { run, priority: 'normal' });
  for (const [to, run] of [3, 2, 4].entries()) await callService(app, 'changeQueue', { run, to });
  await expect(rows).toHaveText([/two/, /one/, /three/]);

  // Taken out, and put back where it was.
  await rows.nth(1).click();
  await page.getByRole('button', { name: 'Take out' }).click();
  await expect(rows).toHaveText([/two/, /three/]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows).toHaveText([/two/, /one/, /three/]);

  await page.getByRole('button', { name: 'Pause queue' }).click();
  await expect(page.getByText('The queue is paused')).toBeVisible();
  expect(await order(app)).toEqual(['two', 'one', 'three']);

  // Closed in the middle: what trained stands first, and everything waits.
  await answerDialog(app, /at the next start/);
  await app.close();

  const again = await launch({ home: app.home });
  try {
    await again.page.getByRole('link', { name: /^Queue/ }).click();
    const waiting = again.page.getByRole('listbox', { name: 'Waiting' }).getByRole('option');
    await expect(waiting).toHaveText([/A run/, /two/, /one/, /three/]);
    await again.page.getByRole('button', { name: 'Resume queue' }).click();
    await expect(again.page.getByRole('main').getByRole('link', { name: 'A run' })).toBeVisible();
    await expect(waiting).toHaveText([/two/, /one/, /three/]);
    if (usableCores() > 1) {
      // One core is enough for the one that trains: the others need not wait for its end.
      await again.page.getByRole('link', { name: 'Settings' }).click();
      await again.page.getByLabel('Runs at once').selectOption('By itself');
      await screenshot(again, 'runs-at-once');
      await expect.poll(() => order(again), { timeout: 60_000 }).toEqual(['two']);
      expect((await callService<RunRecord>(again, 'run', { run: training })).state).toBe('running');
    }
    await callService(again, 'stopRun', { run: training });
    // The one that waits for a time lets the others pass.
    await expect.poll(() => order(again), { timeout: 60_000 }).toEqual(['two']);
    await callService(again, 'changeQueue', { run: 3, notBefore: null });
    await expect.poll(() => order(again), { timeout: 60_000 }).toEqual([]);

    // Done by a time: as many epochs as there is time for, and what became of the plan.
    await again.page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
    await again.page.getByRole('button', { name: 'Small MLP' }).click();
    const until = new Date(Date.now() + 8_000);
    const local = new Date(until.getTime() - until.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await again.page.getByLabel('Be done by').fill(local.replace('T', ' '));
    await expect(again.page.getByText(/^Plan: .* until \d\d:\d\d/)).toBeVisible();
    await screenshot(again, 'done-by');
    await again.page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(again.page.getByText(/done by \d\d:\d\d/)).toBeVisible();
    await expect(again.page.getByText(/^Done .* before .*, annealed/)).toBeVisible({
      timeout: 20_000,
    });
    await screenshot(again, 'done-by-ended');
  } finally {
    await answerDialog(again, /at the next start/);
    await again.close();
  }
});

async function order(app: App): Promise<readonly string[]> {
  await app.page.getByRole('link', { name: /^Queue/ }).click();
  const names = app.page.getByRole('listbox', { name: 'Waiting' }).locator('[role=option] .name');
  await app.page.getByRole('heading', { name: 'Queue' }).waitFor();
  return names.allInnerTexts();
}

test('a thousand waiting runs: what is in sight is drawn, the last one is reached and moved by keys', async () => {
  const home = await homeWithQueue(1_000);
  const app = await launch({ home });
  try {
    const { page } = app;
    await page.getByRole('link', { name: /^Queue/ }).click();
    const rows = page.getByRole('listbox', { name: 'Waiting' }).getByRole('option');
    await expect(rows.first()).toContainText('waiting 1 of it');
    expect(await rows.count()).toBeLessThanOrEqual(40);
    await rows.first().focus();
    await page.keyboard.press('End');
    await expect(page.getByRole('option', { name: /waiting 1000 of it/ })).toBeFocused();
    await page.keyboard.press('Alt+ArrowUp');
    await expect(rows.filter({ hasText: 'waiting 1000 of it' })).toHaveAttribute('aria-posinset', '999');
    await expect(page.getByRole('option', { name: /waiting 1000 of it/ })).toBeFocused();
    expect(await rows.count()).toBeLessThanOrEqual(40);
    await page.keyboard.press('Home');
    await expect(page.getByRole('option', { name: /waiting 1 of it/ })).toBeFocused();
    await screenshot(app, 'queue-thousand');
  } finally {
    await answerDialog(app, /at the next start/);
    await app.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
});

test('below the charge that is chosen in Settings runs pause, and go on when the battery charges', async ({ app }) => {
  const { page } = app;
  await page.addInitScript(() => {
    const battery = Object.assign(new EventTarget(), { charging: false, level: 0.9 });
    if (!('getBattery' in navigator)) throw new Error('Chromium knows of no battery.');
    Object.assign(navigator, { getBattery: async () => battery });
    Object.assign(globalThis, { battery });
  });
  const turn = (change: { charging?: boolean; level?: number }, event: string): Promise<void> =>
    page.evaluate(
      ([changed, name]) => {
        const { battery } = globalThis as unknown as { battery: EventTarget };
        Object.assign(battery, changed);
        battery.dispatchEvent(new Event(name));
      },
      [change, event] as const,
    );
  const dataset = await importTable(app, writeTable(app.home, 400));
  const { id } = await startRun(app, dataset, 100_000);
  await page.evaluate(() => (location.hash = '#settings'));
  await page.getByLabel('Pause when the battery is below').selectOption({ label: '20 %' });
  await waitForEpoch(app, id, 1);
  await turn({ level: 0.19 }, 'levelchange');
  await waitForState(app, id, 'paused');
  await page.evaluate(() => (location.hash = '#queue'));
  await expect(page.getByText('The battery is low: runs pause')).toBeVisible();
  await turn({ charging: true }, 'chargingchange');
  await waitForState(app, id, 'running');
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
});
