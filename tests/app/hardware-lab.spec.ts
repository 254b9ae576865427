// The Lab and Roofline tabs as a person uses them: nothing measured yet, a short lab with its steps, cancelling, exporting and
// importing, another lab beside, and the layers of a model under the roofs. With the adapter in software, which is labelled.

import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { beginMeasuring } from '../../engine/history/measuring.ts';
import { labText } from '../../engine/lab/file.ts';
import type { LabRecord, LabSummary } from '../../engine/protocol/lab.ts';
import { figuresOf } from '../../renderer/views/hardware/lab/reading.ts';
import { workstation } from '../unit/fixtures/workstation.ts';
import { clippedTexts } from './clipping.ts';
import { callService, chooseNext, drawn, expect, launch, screenshot, test, type App } from './launch.ts';
import { runConfig } from './scene.ts';

const sizes = [
  [1100, 720],
  [1440, 900],
  [1920, 1080],
] as const;

async function open(page: Page, tab: 'lab' | 'roofline'): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#hardware/${tab}`);
  await expect(page.getByRole('tabpanel', { name: tab === 'lab' ? 'Lab' : 'Roofline' })).toBeVisible();
}

const figures = (page: Page) => page.getByRole('region', { name: 'Figures' });

/** Answers the next save dialog with this path. */
async function saveNext({ electron }: App, file: string): Promise<void> {
  await electron.evaluate(({ dialog }, filePath) => {
    const original = dialog.showSaveDialog;
    dialog.showSaveDialog = (async () => {
      dialog.showSaveDialog = original;
      return { canceled: false, filePath };
    }) as typeof dialog.showSaveDialog;
  }, file);
}

test('the lab and the roofline', async () => {
  test.setTimeout(300_000);
  const app: App = await launch({ env: { TRAINYARD_SOFTWARE_GPU: '1' } });
  const { page, home } = app;
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await callService(app, 'info');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const labs = (): Promise<readonly LabSummary[]> => callService(app, 'labs');
  const measure = page.getByRole('button', { name: /^Measure/ }).first();

  await test.step('nothing measured yet: one action; cancelling leaves it so', async () => {
    await open(page, 'lab');
    await expect(page.getByText('This machine has not been measured')).toBeVisible();
    await page.getByRole('combobox', { name: 'Time to measure for' }).selectOption('10');
    await measure.click();
    const steps = page.getByRole('region', { name: 'Measuring' });
    await expect(steps.getByRole('row', { name: /GPU in software/ })).toContainText('about');
    await expect(steps.getByRole('row', { name: /Matrix products measuring/ })).toBeVisible({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByText('This machine has not been measured')).toBeVisible();
    expect(await labs()).toEqual([]);
  });

  await test.step('beside a lab of another process nothing is measured or trained, and the reason is said', async () => {
    const file = path.join(home, 'hardware', 'measuring.json');
    // This process of the tests is the other one.
    const done = beginMeasuring(home, 'lab');
    await measure.click();
    await expect(page.getByText(/A lab of another process \(\d+\) measures this machine: both/).first()).toBeVisible();
    const config = runConfig({ id: 'made', rows: 96, task: 'classification', settings: {} }, 1);
    await expect(callService(app, 'startRun', { config })).rejects.toThrow(
      /another process \(\d+\) measures this machine: training would spoil its figures/,
    );
    done();
    expect(fs.existsSync(file)).toBe(false);
  });

  await test.step('a short lab: steps, then the figures that are kept; what was noisy is said', async () => {
    await measure.click();
    const steps = page.getByRole('region', { name: 'Measuring' });
    await expect(steps.getByRole('status')).toContainText(/s left/, { timeout: 30_000 });
    await expect(steps.getByRole('row', { name: /Matrix products .*FLOP/ }).first()).toBeVisible({ timeout: 90_000 });
    await screenshot(app, 'hardware-lab-measuring');
    await expect(figures(page)).toBeVisible({ timeout: 180_000 });
    const [summary] = await labs();
    const record = await callService<LabRecord>(app, 'lab', { lab: summary.id });
    for (const { label, value, unit, spread } of figuresOf(record.result)) {
      await expect(figures(page)).toContainText(`${label} ${value} ${unit} ${spread}`);
    }
    await expect(figures(page)).toContainText('GPU in software');
    await page.getByText(/notes?: what was noisy/).click();
    await expect(page.getByText(record.result.notes[0])).toBeVisible();
    await page.getByText(/notes?: what was noisy/).click();
  });

  await test.step('charts answer the keyboard and show as tables; a figure marks its point', async () => {
    const rate = page.getByRole('slider', { name: 'Rate against size chart' });
    await rate.focus();
    await page.keyboard.press('Home');
    await expect(rate).toHaveAttribute('aria-valuetext', /^N of an N × N × N product \d+: .*FLOP\/s/);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^CPU products/ }).click();
    await expect(rate).toHaveAttribute('aria-valuetext', /^N of an N × N × N product \d+/);
    await rate.focus();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Export Bandwidth against size' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('region', { name: 'Bandwidth against size' }).getByText('16 kB')).toBeVisible();
    await page.getByRole('button', { name: 'Export Bandwidth against size' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
    await page.keyboard.press('Escape');
  });

  await test.step('exported and imported: the other machine lies beside, its values under the figures', async () => {
    const file = path.join(home, 'mine.json');
    await saveNext(app, file);
    await page.getByRole('button', { name: 'Export this lab as a file…' }).click();
    await expect.poll(() => fs.existsSync(file)).toBe(true);
    expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toMatchObject({ format: 'trainyard-lab', version: 1 });
    const other = path.join(home, 'other.json');
    fs.writeFileSync(other, '{}');
    await chooseNext(app, other);
    await page.getByRole('button', { name: 'Import lab…' }).click();
    const refused = page.getByRole('tabpanel').getByRole('alert');
    await expect(refused).toContainText('other.json');
    fs.writeFileSync(other, labText(workstation));
    await chooseNext(app, other);
    await page.getByRole('button', { name: 'Import lab…' }).click();
    await expect(figures(page)).toContainText('beside: 412 GFLOP/s');
    await expect(refused).toBeHidden();
    const chart = page.getByRole('slider', { name: 'Rate against size chart' });
    await expect(chart).toHaveAttribute('aria-valuetext', /workstation GPU 10\.8.TFLOP\/s/);
  });

  await test.step('roofline: a preset taken apart to its sum, another batch, a row and its point, the crossover', async () => {
    await open(page, 'roofline');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('resnet20');
    const answer = page.getByRole('region', { name: 'The answer' });
    await expect(answer).toContainText(/% of the step waits for memory\. Batch 64 /);
    const table = page.getByRole('region', { name: 'Where the step goes' });
    await expect(table.getByRole('row', { name: /^Stage 2, convolutions/ })).toBeVisible();
    const times = await table
      .getByRole('row')
      .evaluateAll((rows) =>
        rows.slice(1).map((row) => row.querySelectorAll('td')[0].textContent!.replaceAll(',', '').trim()),
      );
    const sum = times.slice(0, -1).reduce((all, one) => all + Number(one), 0);
    // Each is rounded by up to half of its last digit.
    const rounded = times.reduce((all, one) => all + 0.5 * 10 ** -(one.split('.')[1]?.length ?? 0), 0);
    expect(Math.abs(sum - Number(times.at(-1)))).toBeLessThanOrEqual(rounded);
    await expect(table.getByRole('row').last()).toContainText('100.0');
    await table.getByRole('button', { name: 'Stage 2, convolutions' }).click();
    const roofs = page.getByRole('slider', { name: 'Roofline chart' });
    await expect(roofs).toHaveAttribute('aria-valuetext', /^FLOP per byte .*FLOP\/s/);
    await roofs.focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    await expect(table.getByRole('button', { pressed: true })).toHaveCount(1);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Use batch 64' }).click();
    await expect(answer).toContainText('Batch 128 ');
    await expect(page.getByText('One step of 64')).toBeVisible();
    await page.getByText('1 thread', { exact: true }).click();
    await expect(page.getByRole('region', { name: 'What it says' })).toContainText('FLOP for each byte');
    const crossover = page.getByRole('slider', { name: 'Crossover for this model chart' });
    await expect(crossover).toHaveAttribute('aria-valuetext', /: 1 thread [\d.,]+ (ms|µs)/, { timeout: 60_000 });
  });

  await test.step('both devices are timed: prediction and measurement side by side, for the batch and for the width', async () => {
    await page.getByRole('combobox', { name: 'Model' }).selectOption('small');
    const verdict = page.getByRole('status', { name: 'Prediction and measurement' });
    const both = page.getByRole('button', { name: 'Time both devices' });
    await expect(verdict).toContainText(/overtakes CPU, 1 thread: predicted .*, not measured yet/, { timeout: 60_000 });
    await both.click();
    await expect(verdict).toContainText(/of 9 sizes/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(verdict).toContainText('not measured yet');
    await both.click();
    await expect(verdict).toContainText(/predicted .*, measured (from|not up to) batch \d+/, { timeout: 120_000 });
    const chart = page.getByRole('slider', { name: 'Crossover for this model chart' });
    await expect(chart).toHaveAttribute('aria-valuetext', /1 thread, measured [\d.,]+ (ms|µs)/);
    await screenshot(app, 'hardware-crossover-timed');
    await page.getByText('Width', { exact: true }).click();
    await expect(verdict).toContainText(/predicted .* width \d.*, not measured yet/, { timeout: 60_000 });
    await both.click();
    await expect(verdict).toContainText(/measured (from|not up to) width \d+/, { timeout: 120_000 });
    await page.getByText('Batch', { exact: true }).last().click();
    await expect(verdict).toContainText(/measured (from|not up to) batch/);
  });

  await test.step('no text is cut, at three widths in both themes', async () => {
    for (const theme of ['light', 'dark'] as const) {
      await page.evaluate(() => (location.hash = '#settings'));
      await page.getByText(theme === 'light' ? 'Light' : 'Dark', { exact: true }).click();
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        for (const tab of ['lab', 'roofline'] as const) {
          await open(page, tab);
          await drawn(page);
          await screenshot(app, `measured-${tab}-${width}-${theme}`);
          expect.soft(await clippedTexts(page), `${tab}, ${width}, ${theme}`).toEqual([]);
        }
      }
    }
  });

  expect(errors).toEqual([]);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true });
});
