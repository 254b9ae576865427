// What the window says of hardware before and after a run, as a person meets it: claims tested on this machine and the pages that
// explain them.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { costOf, energyText, moneyText, totalCost } from '../../engine/hardware/bill.ts';
import { createStore } from '../../engine/history/store.ts';
import { secondsOfPhases, type RunBill } from '../../engine/protocol/bill.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { bytes, duration } from '../../renderer/lib/format.ts';
import { newRun } from '../unit/fixtures/history.ts';
import { callService, expect, launch, screenshot, test, type App } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';

const plain = (text: string | null): string => (text ?? '').replaceAll('\u00a0', ' ');

async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate((address) => (location.hash = address), hash);
}

/** A run that took some electricity: what a test trains itself costs next to nothing, whatever the tariff. */
const earlier: RunBill = { phases: {}, cpuSeconds: 7200, gpuSeconds: 0 };

async function homeWithBill(): Promise<string> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-billed-'));
  const store = createStore(home);
  const { id } = await store.createRun(newRun({ name: 'an earlier run' }));
  const done = { epoch: 1, epochs: 1, step: 1, steps: 1, secondsLeft: null, loss: null };
  const progress = { ...done, examplesPerSecond: 1, secondsTraining: 7000, secondsElapsed: 7200, bill: earlier };
  const now = Date.now();
  await store.updateRun({
    run: id,
    patch: { state: 'completed', device: 'cpu', startedAt: now, endedAt: now, progress },
  });
  await store.close();
  return home;
}

test('advice, claims and bills in the window', async () => {
  test.setTimeout(240_000);
  const app: App = await launch({ home: await homeWithBill() });
  const { page, home } = app;
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();

  await test.step('a claim is tested by measuring, and opens as a page whose control answers', async () => {
    await go(page, '#hardware/claims');
    const rows = page.locator('[data-claim]');
    await expect(rows).toHaveCount(72);
    const claim = page.locator('[data-claim="one-or-two-values"]');
    await expect(claim).toContainText('not tested');
    await claim.getByRole('button', { name: /^A CPU takes one or two/ }).click();
    await expect(page.getByRole('heading', { level: 2, name: /A CPU takes one or two/ })).toBeVisible();
    await page.keyboard.press('t');
    await expect(claim.getByRole('button', { name: 'Cancel' })).toBeVisible();
    await expect(claim).not.toContainText('not tested', { timeout: 90_000 });
    await expect(
      page.getByRole('region', { name: 'The open page' }).getByText(/One thread multiplies and adds/),
    ).toBeVisible();
    await screenshot(app, 'claims-tested');
    await page.keyboard.press('ArrowDown');
    await expect(page.locator('[data-claim][class*="on"]')).toHaveAttribute('data-claim', 'gpu-core-counts');
    await page
      .getByRole('textbox', { name: 'Find a claim' })
      .or(page.getByRole('searchbox', { name: 'Find a claim' }))
      .fill('break');
    await expect(rows).not.toHaveCount(72);
    await go(page, '#hardware/claims/learn-amdahl');
    const slider = page.getByRole('slider', { name: 'Share that does not divide' });
    await page.getByRole('button', { name: /^Share that does not divide: .*Type another/ }).click();
    await page.getByRole('textbox', { name: 'Share that does not divide' }).fill('10');
    await page.keyboard.press('Enter');
    await expect(slider).toHaveAttribute('aria-valuetext', /^10/);
    expect(
      plain(
        await page
          .getByRole('region', { name: 'The open page' })
          .getByText(/devices do a fixed task/)
          .textContent(),
      ),
    ).toContain('8.77 × as fast, never more than 10 ×');
  });

  await test.step('an ended run shows its bill as the history has it, and the totals follow the tariff', async () => {
    const dataset = await importTable(app, writeTable(home, 500));
    const { id } = await startRun(app, dataset, 3);
    await waitForState(app, id, 'completed');
    const run = await callService<RunRecord>(app, 'run', { run: id });
    const bill = run.progress!.bill!;
    const { catalogue } = readCatalogue();
    const cost = costOf(bill, { tariff: 0.18, grid: 475 }, catalogue)!;
    await go(page, `#run/${id}`);
    const figure = (name: string) => page.getByRole('group', { name: 'Bill' }).locator('p', { hasText: name });
    await expect(figure(`Energy, ${cost.source}`)).toContainText(energyText(cost.kilowattHours));
    await expect(figure(`Energy, ${cost.source}`)).toHaveAttribute('title', /0\.18 USD and 475 g CO₂ a kWh/);
    const memory = plain(bytes(bill.deviceBytes!));
    expect(plain(await figure('Memory').textContent())).toContain(`${memory} forecast ${memory}`);
    const { phases } = bill;
    expect(plain(await figure('Time').textContent())).toContain(plain(duration(secondsOfPhases(phases))));
    await expect(figure('Time')).toContainText(/forecast [\d.]+|forecast under/);
    await expect(figure('Time')).toHaveAttribute('title', /training .*The forecast is from the last lab\./);
    await screenshot(app, 'run-bill');
    await go(page, '#hardware');
    const totals = page.getByRole('region', { name: 'What runs have cost' });
    const row = totals.getByRole('row', { name: /^All/ });
    const all = (tariff: number): string =>
      moneyText(totalCost([earlier, bill], { tariff, grid: 475 }, catalogue).total!.money);
    expect(all(0.18)).not.toBe(all(1.8));
    await expect(row).toContainText(all(0.18));
    await totals.getByRole('textbox', { name: 'Electricity' }).fill('1.8');
    await page.keyboard.press('Enter');
    await expect(row).toContainText(all(1.8));
    expect(await callService(app, 'getSetting', { key: 'electricity' })).toEqual({ tariff: 1.8, grid: 475 });
    await screenshot(app, 'hardware-costs');
    await go(page, `#new/${dataset.id}`);
    await page.getByRole('button', { name: 'Small MLP' }).click();
    const outlook = page.getByRole('region', { name: 'Outlook' });
    await expect(outlook).toContainText(/CPU: .*; a GPU would not help/);
    await expect(outlook).toContainText('Forecast from the last lab.');
    await screenshot(app, 'new-outlook');
    // What is no network trains on the CPU alone, and has its time too.
    for (const [learner, says] of [
      [/^Boosted trees/, /CPU: at most about .*; trees do not use a GPU/],
      [/^Linear model/, /CPU: about .*; linear models do not use a GPU/],
      [/^Best of all/, /About 6\d.s: it looks for the best/],
    ] as const) {
      await page.getByRole('button', { name: learner }).click();
      await expect(outlook).toContainText(says);
    }
    await screenshot(app, 'new-outlook-tables');
  });

  await test.step('advice is ranked for the needs, and a changed threshold changes it, here and for the command line', async () => {
    await go(page, '#hardware/advise');
    await page.getByRole('button', { name: 'A table of 10,000 rows' }).click();
    const first = page.locator('[data-rule]').first();
    await expect(first).toHaveAttribute('data-rule', 'finishes-soon');
    await expect(page.getByRole('region', { name: 'The answer' })).toContainText('Stay on this CPU');
    await expect(page.getByText(/^For inference: it has no backward pass: \d+ devices/)).toBeVisible();
    await screenshot(app, 'advise');
    // The smallest window with text of 125 %.
    await page.setViewportSize({ width: 880, height: 576 });
    const names = await page
      .getByRole('region', { name: 'Recommendations' })
      .getByRole('heading', { level: 3 })
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
    for (const width of names) expect(width).toBeGreaterThan(120);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Rules and thresholds' }).click();
    const field = page.getByRole('textbox', { name: 'Stay on this CPU: the CPU is done in less, min' });
    await field.fill('0');
    await page.keyboard.press('Enter');
    await expect(first).not.toHaveAttribute('data-rule', 'finishes-soon');
    await expect
      .poll(() => callService(app, 'getSetting', { key: 'advice.thresholds' }))
      .toEqual({ 'finishes-soon.minutes': 0 });
    await screenshot(app, 'advise-rules');
    await page.getByRole('button', { name: 'Reset all' }).click();
    await expect(first).toHaveAttribute('data-rule', 'finishes-soon');
    await page.getByRole('button', { name: '100,000 pictures, ResNet-50' }).click();
    await page.getByRole('textbox', { name: 'Done within, hours' }).fill('24');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('img', { name: 'From now to the finish, with your deadline' }).first()).toBeVisible();
    await expect(first).toHaveAttribute('data-rule', 'rent-one');
    await expect(page.getByRole('radio', { name: 'money' })).toBeChecked();
    await page.getByRole('checkbox', { name: 'Data must not leave' }).check();
    await expect(first).not.toHaveAttribute('data-rule', 'rent-one');
    await screenshot(app, 'advise-long');
  });

  expect(errors).toEqual([]);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true });
});
