// The way a person goes: drop a table, look at it, train, watch, pause, come back tomorrow, train again, compare.
// By roles and labels only.

import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import {
  callService,
  dropFiles,
  expect,
  launch,
  saveNextAs,
  screenshot,
  test,
  testsOfOneApp,
  type App,
} from './launch.ts';
import { processIds, writeTable } from './scene.ts';

const sharing = testsOfOneApp();

test('first start: one button trains on a sample', async ({ app }) => {
  const { page } = app;
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await screenshot(app, 'welcome');
  await page.getByRole('button', { name: 'Train on this: Palmer penguins' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('penguins-tabular');
  await expect(page.getByRole('slider', { name: 'Accuracy chart' })).toHaveAttribute('aria-valuetext', /validation/);
  await expect(page.getByRole('region', { name: 'Results' }).getByRole('row', { name: /Accuracy/ })).toBeVisible();
  // A run that still works would be asked about when the app is closed.
  await expect(page.getByText('Completed').first()).toBeVisible();

  await test.step('its model leaves as ONNX, with a certificate', async () => {
    await page.getByRole('tab', { name: 'Files' }).click();
    const exports = page.getByRole('region', { name: 'Exports', exact: true });
    await exports.getByRole('button', { name: 'Export ONNX' }).click();
    await expect(exports.getByRole('row', { name: /^ONNX penguins-tabular\.onnx .* certified/ })).toBeVisible({
      timeout: 60_000,
    });
    const certificate = page.getByRole('region', { name: 'Certificate' });
    await expect(certificate.getByText('passes')).toBeVisible();
    await expect(certificate.getByText(/^(\d+) of \1$/)).toBeVisible();
    await expect(page.getByRole('img', { name: /the largest difference is .* 10⁻⁵ is allowed/ })).toBeVisible();
    await screenshot(app, 'files');

    await exports.getByRole('button', { name: 'Export Report' }).click();
    await expect(exports.getByRole('row', { name: /^Report penguins-tabular\.html .* read back/ })).toBeVisible();
    await expect(certificate.getByText(/^no reference to anything outside it/)).toBeVisible();
    await expect(certificate.getByText(/^1 file, .* read from the disk again/)).toBeVisible();

    const copied = path.join(app.home, 'birds.onnx');
    await saveNextAs(app, copied);
    await exports.getByRole('button', { name: 'Save ONNX' }).click();
    await expect(page.getByText('Saved as birds.onnx')).toBeVisible();
    expect(fs.statSync(copied).size).toBeGreaterThan(5_000);
    expect(fs.readdirSync(app.home)).toContain('birds.check.py');

    await exports.getByRole('button', { name: 'ONNX', exact: true }).click();
    await certificate.getByRole('link', { name: /^row \d+ of the dataset$/ }).click();
    await expect(page.getByText(/differs most as ONNX/)).toBeVisible();
  });
});

test('drop, look, train, pause, quit, come back, train again, compare', async () => {
  test.setTimeout(120_000);
  const first = await launch();
  const { page } = first;
  await ready(first);
  await dropFiles(first, writeTable(first.home, 4000));

  await test.step('the dataset page', async () => {
    await expect(page.getByRole('heading', { name: 'points', level: 1 })).toBeVisible();
    await expect(
      page
        .getByRole('table', { name: /Rows of points/ })
        .getByRole('row')
        .nth(3),
    ).toBeVisible();
    await expect(page.getByRole('combobox', { name: 'Target column' })).toHaveValue('side');
    await page.getByRole('combobox', { name: 'Type of width' }).selectOption('category');
    await page.getByRole('button', { name: 'width', exact: true }).click();
    await expect(page.getByText(/Read as category, as you chose/)).toBeVisible();
    await page.getByRole('combobox', { name: 'Type of width' }).selectOption('number');
    await page.getByLabel('Validation, %').fill('20');
    await expect(page.getByText('Validation 20 %')).toBeVisible();
    await screenshot(first, 'dataset');
    await page.getByRole('button', { name: 'New run with this data' }).click();
  });

  await test.step('a model of one’s own, with its error at its layer', async () => {
    await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
    await page.getByRole('button', { name: 'Small MLP' }).click();
    const units = page.getByRole('textbox', { name: 'Units of Dense 1' });
    await units.fill('48');
    await expect(page.getByRole('row', { name: /1 Dense/ })).toContainText('144');
    await page.getByLabel('Epochs', { exact: true }).fill('100000');
    await page.getByRole('textbox', { name: 'Epochs', exact: true }).press('Tab');
    await page.getByRole('combobox', { name: 'Stop early' }).selectOption('no');
    await page.getByRole('textbox', { name: 'Name of the run' }).fill('first try');
    await page.getByRole('button', { name: 'Take one training' }).click();
    await screenshot(first, 'new-run');
    await page.getByRole('button', { name: 'Start' }).click();
  });

  await test.step('curves grow; pause and resume', async () => {
    await expect(page.getByRole('heading', { name: 'first try' })).toBeVisible();
    const step = await growing(page);
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(page.getByText(/Paused at step.*Nothing is lost/)).toBeVisible();
    await screenshot(first, 'run-paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => currentStep(page)).toBeGreaterThan(step);
    await screenshot(first, 'run');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(page.getByRole('banner').or(page.locator('header')).getByText('Stopped').first()).toBeVisible();
  });
  await first.close();

  const second = await launch({ home: first.home });
  await test.step('the run is there after a new start; a second one, then both compared', async () => {
    const again = second.page;
    await expect(again.getByRole('heading', { name: 'first try' })).toBeVisible();
    await again.getByRole('button', { name: 'More for first try' }).click();
    await again.getByRole('menuitem', { name: 'Run again with changes' }).click();
    await again.getByLabel('Epochs', { exact: true }).fill('3');
    await again.getByLabel('Learning rate', { exact: true }).fill('0.01');
    await again.getByRole('textbox', { name: 'Name of the run' }).fill('second try');
    await again.getByRole('button', { name: 'Start' }).click();
    await expect(again.getByText('Completed').first()).toBeVisible({ timeout: 30_000 });
    await compareBoth(second);
  });
  await test.step('it goes on as a run that knows it, and gives its weights to another', () => goOn(second));
  await second.close();
  fs.rmSync(first.home, { recursive: true, force: true });
});

sharing('import shows its progress and can be cancelled', async ({ app }) => {
  const { page, home } = app;
  await ready(app);
  // The data host stands still while the button is pressed: what it imports is not done before.
  const [data] = await processIds(app, 'data');
  process.kill(data, 'SIGSTOP');
  await dropFiles(app, writeTable(home, 100_000, 'large.csv'));
  const progress = page.getByRole('region', { name: 'Importing large.csv' });
  await expect(progress.getByRole('progressbar')).toBeVisible();
  await progress.getByRole('button', { name: 'Cancel' }).click();
  process.kill(data, 'SIGCONT');
  await expect(progress).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
});

sharing('runs are renamed, starred, tagged, deleted and brought back', async ({ app }) => {
  const { page } = app;
  await page.getByRole('button', { name: 'Train on this: Palmer penguins' }).click();
  await expect(page.getByRole('region', { name: 'Results' }).getByRole('row', { name: /Accuracy/ })).toBeVisible();
  await page.getByRole('link', { name: 'Runs' }).click();
  const grid = page.getByRole('grid', { name: 'Runs' });
  await grid.getByRole('row', { name: /penguins-tabular/ }).click();
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: 'New name of penguins-tabular' }).fill('birds');
  await page.keyboard.press('Enter');
  await expect(grid.getByRole('link', { name: 'birds' })).toBeVisible();

  await grid.getByRole('button', { name: 'Star birds' }).click();
  await page.getByRole('button', { name: 'Starred' }).click();
  await expect(grid.getByRole('link', { name: 'birds' })).toBeVisible();
  await page.getByRole('button', { name: 'All', exact: true }).click();

  await grid.getByRole('row', { name: /birds/ }).click();
  await page.getByRole('button', { name: 'Tags and notes…' }).click();
  await page.getByLabel('Tags, divided by commas').fill('keep, checked');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(grid.getByRole('button', { name: 'checked' })).toBeVisible();

  await page.getByRole('searchbox', { name: 'Search runs' }).fill('nothing like it');
  await expect(page.getByText('No run matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();

  await grid.getByRole('row', { name: /birds/ }).click();
  await page.getByRole('button', { name: 'Move to trash' }).click();
  await expect(page.getByText('No runs yet.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(grid.getByRole('link', { name: 'birds' })).toBeVisible();
});

sharing('a chart is read by pointer, zoomed, exported and shown as a table', async ({ app }) => {
  const { page, home } = app;
  await page.getByRole('button', { name: 'Train on this: Palmer penguins' }).click();
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 30_000 });
  const pane = page.getByRole('region', { name: 'Loss', exact: true });
  const plot = pane.getByRole('slider', { name: 'Loss chart' });
  const box = (await plot.boundingBox())!;
  const across = (share: number): { x: number; y: number } => ({ x: box.width * share, y: box.height / 2 });

  await plot.hover({ position: across(0.5) });
  await expect(plot).toHaveAttribute('aria-valuetext', /^epoch \d.*train .*validation/);
  await page.mouse.down();
  await plot.hover({ position: across(0.75) });
  await page.mouse.up();
  await expect(pane.getByRole('button', { name: 'Reset zoom' })).toBeVisible();
  await plot.dblclick();
  await expect(pane.getByRole('button', { name: 'Reset zoom' })).toHaveCount(0);
  await pane.getByText('Log', { exact: true }).click();
  await screenshot(app, 'run-log-scale');

  const picture = path.join(home, 'loss.png');
  await saveNextAs(app, picture);
  await pane.getByRole('button', { name: 'Export Loss' }).click();
  await page.getByRole('menuitem', { name: 'Save as PNG…' }).click();
  await expect(page.getByText('Saved as loss.png')).toBeVisible();
  expect(fs.readFileSync(picture).subarray(1, 4).toString()).toBe('PNG');

  const table = path.join(home, 'loss.csv');
  await saveNextAs(app, table);
  await pane.getByRole('button', { name: 'Export Loss' }).click();
  await page.getByRole('menuitem', { name: 'Save as CSV…' }).click();
  await expect(page.getByText('Saved as loss.csv')).toBeVisible();
  const [header, first] = fs.readFileSync(table, 'utf8').split('\n');
  expect(header).toBe('epoch,train,validation');
  expect(Number(first.split(',')[0])).toBeGreaterThan(0);

  await pane.getByRole('button', { name: 'Export Loss' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
  await page.keyboard.press('Escape');
  await expect(pane.getByRole('table', { name: 'Loss as a table' }).getByRole('row').nth(2)).toBeVisible();
});

/** Waits until the first view is there: before that nobody listens for a drop. */
async function ready({ page }: App): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
}

/** Waits until steps and curve have grown; returns the step. */
async function growing(page: Page): Promise<number> {
  const chart = page.getByRole('slider', { name: 'Loss chart' });
  await expect(chart).toHaveAttribute('aria-valuetext', /train .*validation/);
  const text = await chart.getAttribute('aria-valuetext');
  const step = await currentStep(page);
  await expect(chart).not.toHaveAttribute('aria-valuetext', text ?? '');
  await expect.poll(() => currentStep(page)).toBeGreaterThan(step);
  return currentStep(page);
}

async function currentStep(page: Page): Promise<number> {
  const text = await page.getByText(/^step [\d,]+ of/).textContent();
  return Number(/step ([\d,]+)/.exec(text ?? '')?.[1].replaceAll(',', ''));
}

async function compareBoth(app: App): Promise<void> {
  const { page } = app;
  await page.getByRole('link', { name: 'Runs' }).click();
  const grid = page.getByRole('grid', { name: 'Runs' });
  await grid.getByRole('row', { name: /first try/ }).click();
  await grid.getByRole('row', { name: /second try/ }).click({ modifiers: ['Control'] });
  await screenshot(app, 'runs');
  await page.getByRole('button', { name: 'Compare 2' }).click();
  const table = page.getByRole('region', { name: 'Table of settings and results' });
  await expect(table.getByRole('row', { name: /Learning rate/ })).toContainText('0.01');
  await expect(table.getByRole('row', { name: /^Optimizer/ })).toHaveCount(0);
  await page.getByText('All', { exact: true }).click();
  await expect(table.getByRole('row', { name: /^Optimizer/ })).toHaveCount(1);
  await expect(page.getByRole('slider', { name: 'Validation loss chart' })).toHaveAttribute('aria-valuetext', /A .*B /);
  await expect(page.getByLabel('Reading')).toContainText(/differ/);
  await screenshot(app, 'compare');
}

/** Where a new run starts from is chosen in New run itself, which says before the start what fits. */
async function startFrom(page: Page): Promise<void> {
  const pane = page.getByRole('region', { name: 'Start from' });
  const fits = pane.getByRole('list', { name: 'What fits' });
  const weights = pane.getByLabel('Weights of');
  const start = page.getByRole('button', { name: 'Start', exact: true });
  await weights.selectOption({ label: 'New weights, drawn by chance' });
  await expect(page.getByText(/Begins with/)).toHaveCount(0);
  await expect(fits).toHaveCount(0);
  await weights.selectOption({ label: 'Run 3: second try +4 · this data' });
  await expect(fits.getByText('taken, trained on')).toHaveCount(3);
  await pane.getByLabel('Layers frozen').selectOption({ label: 'The first layer' });
  await expect(fits.getByRole('listitem').first()).toHaveText(/\(Dense\)\s*taken and frozen/);

  const units = page.getByRole('textbox', { name: 'Units of Dense 2' });
  const usual = await units.inputValue();
  await units.fill('9');
  const second = fits.getByRole('listitem').nth(1);
  await expect(second).toContainText(`does not fit: 1.weight is 48 × 9 here, 48 × ${usual} there`);
  await expect(start).toBeDisabled();
  await second.getByRole('button', { name: 'Take the layers before it alone' }).click();
  await expect(second).toHaveText(/new, drawn by chance/);
  await expect(start).toBeEnabled();
  await pane.getByLabel('Layers frozen').selectOption({ label: 'The first 2 layers' });
  await expect(second).toHaveText(/nothing is taken for it/);
  await expect(start).toBeDisabled();
  await pane.getByRole('button', { name: 'Use its layers' }).click();
  await expect(units).toHaveValue(usual);
  await pane.getByLabel('Layers taken').selectOption({ label: 'All layers' });
  await expect(fits.getByText('taken and frozen')).toHaveCount(2);
  await pane.getByLabel('Layers frozen').selectOption({ label: 'The first layer' });
}

async function goOn(app: App): Promise<void> {
  const { page } = app;
  await page.evaluate(() => {
    location.hash = '#run/2';
  });
  await expect(page.getByRole('heading', { name: 'second try' })).toBeVisible();
  await page.getByRole('tab', { name: 'Files' }).click();
  const kept = page.getByRole('region', { name: 'Table of checkpoints' });
  await expect(kept.getByRole('row', { name: /^3 last everything/ })).toBeVisible();
  await expect(kept.getByRole('row', { name: /best weights/ })).toBeVisible();
  await screenshot(app, 'run-files');
  // Made in the app's own engine, which is older than that of the command line.
  for (const format of ['html', 'mlflow']) {
    const made = await callService<{ files: unknown[] }>(app, 'makeExport', {
      job: `export-${format}`,
      run: 2,
      format,
    });
    expect(made.files.length).toBeGreaterThan(0);
  }
  await page.getByRole('tab', { name: 'Files' }).click();
  const inspector = page.getByRole('complementary', { name: 'Go on from this run' });
  await inspector.getByLabel('More epochs').fill('4');
  await inspector.getByRole('button', { name: 'Extend by 4 epochs' }).click();
  await expect(page.getByRole('heading', { name: 'second try +4' })).toBeVisible();
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('link', { name: 'continues run 2 from epoch 3' })).toBeVisible();
  await expect(page.getByText('All 7 epochs').first()).toBeVisible();

  await page.getByRole('tab', { name: 'Files' }).click();
  await expect(page.getByRole('region', { name: 'Family' }).getByRole('link', { name: 'second try' })).toBeVisible();
  await inspector.getByText('Transfer', { exact: true }).click();
  await inspector.getByRole('button', { name: 'New run with its weights…' }).click();
  const begins = page.getByText(/Begins with the best weights of run 3\./);
  await expect(begins).toBeVisible();
  await startFrom(page);
  await expect(begins).toBeVisible();
  await page.getByLabel('Epochs', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('link', { name: /started from run 3/ })).toBeVisible();
}
