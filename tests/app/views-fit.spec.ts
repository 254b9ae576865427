// Data that would mislead, in the window: a split by time offered and taken, and predicting a file that does not fit.

import fs from 'node:fs';
import path from 'node:path';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { callService, chooseNext, dropFiles, expect, screenshot, test, type App } from './launch.ts';
import { runConfig, waitForState } from './scene.ts';

const rows = 200;

function write(folder: string, name: string, price: (row: number) => string): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const date = new Date(Date.UTC(2023, 0, 1 + row)).toISOString().slice(0, 10);
    return `${date},${price(row)},${(row * 7) % 13},${((row * 7919) % 31) % 2 === 0 ? 'up' : 'down'}`;
  });
  const file = path.join(folder, name);
  fs.writeFileSync(file, `date,price,volume,target\n${lines.join('\n')}\n`);
  return file;
}

/** Answers save dialogs with this path. */
async function saveTo({ electron }: App, file: string): Promise<void> {
  await electron.evaluate(({ dialog }, filePath) => {
    dialog.showSaveDialog = (async () => ({ canceled: false, filePath })) as typeof dialog.showSaveDialog;
  }, file);
}

test('a split by time is offered; a file that does not fit is refused, or predicted with a word', async ({ app }) => {
  test.setTimeout(120_000);
  const { page, home } = app;
  await expect(page.getByRole('heading', { name: 'Train a network on this machine' })).toBeVisible();
  await dropFiles(
    app,
    write(home, 'days.csv', (row) => String(10 + ((row * 31) % 17) / 4)),
  );
  await expect(page.getByRole('heading', { name: 'days', level: 1 })).toBeVisible();
  const split = page.getByRole('region', { name: 'Split' });
  await expect(split.getByRole('radio', { name: 'By chance' })).toBeChecked();
  await page.getByRole('button', { name: 'Split in the order of date' }).click();
  await expect(split.getByRole('radio', { name: 'By time' })).toBeChecked();
  await expect(split.getByRole('combobox', { name: 'Column of the time' })).toHaveValue('date');
  await expect(page.getByRole('button', { name: 'Split in the order of date' })).toBeHidden();
  for (const width of [1100, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await screenshot(app, `split-by-time-${width}`);
  }
  await split.getByText('By group').click();
  await expect(split.getByRole('combobox', { name: 'Column of the group' })).toBeVisible();
  await split.getByText('By time').click();
  await expect(split.getByRole('combobox', { name: 'Column of the time' })).toHaveValue('date');

  const [dataset] = await callService<Parameters<typeof runConfig>[0][]>(app, 'datasets', undefined);
  if (dataset === undefined) throw new Error('no dataset');
  const run = await callService<RunRecord>(app, 'startRun', { name: 'Days', config: runConfig(dataset, 2) });
  await waitForState(app, run.id, 'completed');
  await page.evaluate((id) => (location.hash = `#run/${id}`), run.id);
  await expect(page.getByText('in the order of date').first()).toBeVisible();

  const predict = async (file: string): Promise<void> => {
    await chooseNext(app, file);
    await page.getByRole('button', { name: 'More for Days' }).click();
    await page.getByRole('menuitem', { name: 'Predict for a file…' }).click();
  };
  await saveTo(app, path.join(home, 'answers.csv'));
  await predict(write(home, 'lost.csv', () => 'dear'));
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('price: 200 of 200 cells are no numbers ("dear")');
  await screenshot(app, 'predict-refused');
  expect(fs.existsSync(path.join(home, 'answers.csv'))).toBe(false);
  await dialog.getByRole('button', { name: 'Predict all the same' }).click();
  await expect(dialog).toContainText('Predicted 200 rows into answers.csv');
  await expect(dialog).toContainText('price: 200 of 200 cells are no numbers');
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  const input = write(home, 'dollars.csv', (row) => `$${10 + row / 4}`);
  const before = fs.readFileSync(input, 'utf8');
  await saveTo(app, input);
  await predict(input);
  await expect(page.getByText('dollars.csv is the file that was read')).toBeVisible();
  expect(fs.readFileSync(input, 'utf8')).toBe(before);
});
