// What goes wrong is said where it happened, with what, where and what to do; and nothing half-made stays behind.

import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import fs from 'node:fs';
import path from 'node:path';
import { encoders, paint } from '../support/pictures.ts';
import { callService, dropFiles, expect, root, screenshot, testsOfOneApp, type App } from './launch.ts';
import { importTable, processIds, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { mlp } from '../../engine/model/presets.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';

const test = testsOfOneApp();

const messy = (name: string): string => path.join(root, 'tests/fixtures/messy', name);

const refused: readonly (readonly [file: string, message: RegExp])[] = [
  ['bad-empty.csv', /empty \(0 bytes\)[\s\S]*header line and rows/],
  ['bad-blank.csv', /no text in it/],
  ['bad-header-only.csv', /header line and no rows/],
  ['bad-binary.csv', /binary data/],
  ['bad-workbook.csv', /Excel workbook[\s\S]*CSV/],
  ['bad-ragged.csv', /line 3 has 2, line 5 has 4/],
  ['bad-unclosed-quote.csv', /line 3: a quote is opened and not closed/],
  ['bad-lines.jsonl', /line 2: not a JSON object/],
];

test('files that cannot be read say why, and leave nothing behind', async ({ app }) => {
  const { page } = app;
  await ready(app);
  await dropFiles(app, path.join(app.home, 'gone.csv'));
  const gone = page.getByRole('alert').filter({ hasText: 'gone.csv' });
  await expect(gone).toContainText(/not a file or folder on this machine\.\s+Save it to a folder first/);
  await expect(gone).not.toContainText(/invoking/);
  await gone.getByRole('button', { name: 'Dismiss' }).click();
  for (const [file, message] of refused) {
    await dropFiles(app, messy(file));
    const alert = page.getByRole('alert').filter({ hasText: file });
    await expect(alert).toContainText(message);
    // What would change nothing is not offered.
    const offered = (name: string) => alert.getByRole('button', { name });
    await expect(offered('Skip bad lines')).toHaveCount(/ragged|unclosed|bad-lines/.test(file) ? 1 : 0);
    await expect(offered('Reading options…')).toHaveCount(/empty|blank/.test(file) ? 0 : 1);
    if (file === 'bad-ragged.csv') await screenshot(app, 'import-refused');
    if (file === 'bad-binary.csv') {
      // Tried again, it is told once.
      const bar = page.locator('[aria-label^="Importing"]');
      await dropFiles(app, messy(file));
      await expect(bar).toHaveCount(0);
      await expect(alert).toHaveCount(1);
    }
    await alert.getByRole('button', { name: 'Dismiss' }).click();
    await expect(alert).toBeHidden();
  }
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  expect(await callService<readonly DatasetInfo[]>(app, 'datasets')).toEqual([]);

  await test.step('a picture has no reading options; what failed alike in one drop is told once', async () => {
    const pictures = Array.from({ length: 200 }, (_, i) => {
      const file = path.join(app.home, `${String(i).padStart(4, '0')}.png`);
      fs.writeFileSync(file, encoders.png(paint(8, 8, () => [i, 0, 0])));
      return file;
    });
    const alert = page.getByRole('main').getByRole('alert');
    await dropFiles(app, pictures[0]);
    await expect(alert).toContainText('0000.png is not a table: it is a PNG picture.');
    await expect(alert.getByRole('button', { name: 'Dismiss' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Reading options…' })).toHaveCount(0);
    await alert.getByRole('button', { name: 'Dismiss' }).click();

    const tables = Array.from({ length: 6 }, (_, i) => writeTable(app.home, 40 + i, `good-${i}.csv`));
    await dropFiles(app, ...tables.slice(0, 3), ...pictures, ...tables.slice(3));
    await expect(alert).toContainText(
      /200 files are not tables: 0000\.png, 0001\.png and 198 more\.\s+Drop the folder they are in to import pictures\./,
      { timeout: 30_000 },
    );
    await expect.poll(async () => (await callService<readonly DatasetInfo[]>(app, 'datasets')).length).toBe(6);
    await expect(alert).toHaveCount(1);
    await expect(page.getByRole('button', { name: 'Reading options…' })).toHaveCount(0);
    await screenshot(app, 'import-many-refused');
    await alert.getByRole('button', { name: 'Dismiss' }).click();
    await expect(alert).toHaveCount(0);
  });
});

test('bad lines can be left out, and reading options be set', async ({ app }) => {
  const { page } = app;
  await ready(app);
  await dropFiles(app, messy('bad-ragged.csv'));
  await page.getByRole('button', { name: 'Reading options…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Reading options for bad-ragged.csv' });
  await dialog.getByLabel('Columns are divided by').selectOption('Semicolon');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Skip bad lines' }).click();
  await expect(page.getByRole('table', { name: /Rows of/ })).toBeVisible();
  await expect(page.getByRole('alert').filter({ hasText: 'bad-ragged.csv' })).toHaveCount(0);
});

test('a folder without pictures is refused', async ({ app }) => {
  await ready(app);
  const folder = path.join(app.home, 'papers');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'notes.txt'), 'nothing to see');
  await dropFiles(app, folder);
  await expect(app.page.getByRole('alert').filter({ hasText: 'papers' })).toBeVisible();
});

test('a target that cannot be learned is said on the page of the dataset, with one thing to do', async ({ app }) => {
  const { page } = app;
  await ready(app);
  for (const [file, message] of [
    ['bad-one-class.csv', 'The target "label" has one class only: same.'],
    ['bad-target-missing.csv', 'The target "label" has no value in any row.'],
  ] as const) {
    await dropFiles(app, messy(file));
    await expect(page.getByRole('heading', { name: file.replace('.csv', ''), level: 1 })).toBeVisible();
    await page.getByRole('combobox', { name: 'Target column' }).selectOption('label');
    await expect(page.getByText(message)).toBeVisible();
    const start = page.getByRole('button', { name: 'New run with this data' });
    await expect(start).toHaveAttribute('aria-disabled', 'true');
    expect(await start.getAttribute('title')).toContain(message);
    await screenshot(app, `target-${file.replace('.csv', '')}`);
    await page.getByRole('button', { name: 'Predict x instead' }).click();
    await expect(page.getByText(message)).toBeHidden();
    await expect(start).not.toHaveAttribute('aria-disabled', 'true');
  }
  await expect(page.getByRole('button', { name: 'Leave it out' }), 'it is left out already').toHaveCount(0);
});

test('data that is too small can be looked at; that it cannot be trained on is said before a run is made', async ({
  app,
}) => {
  const { page } = app;
  await ready(app);
  await dropFiles(app, messy('bad-tiny.csv'));
  await expect(page.getByRole('table', { name: /Rows of/ })).toBeVisible();
  await page.getByRole('combobox', { name: 'Target column' }).selectOption({ index: -1 + (await targets(app)) });
  await page.getByRole('button', { name: 'New run with this data' }).click();
  await expect(page.locator('main').getByRole('alert')).toContainText(/\w{4}/);
  await expect(page.getByRole('button', { name: 'Start' })).toHaveCount(0);
  expect(await callService<{ total: number }>(app, 'runs', {})).toMatchObject({ total: 0 });
});

test('a training process killed in mid-run: its page says so, and the run goes on from its checkpoint', async ({
  app,
}) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const { id } = await startRun(app, dataset, 100_000, 'Doomed');
  await page.evaluate((run) => {
    location.hash = `#run/${run}`;
  }, id);
  // The first checkpoint is written after a second.
  await expect.poll(async () => (await callService<RunRecord>(app, 'run', { run: id })).hasCheckpoint).toBe(true);
  const [pid] = await processIds(app, 'training');
  process.kill(pid, 'SIGKILL');
  await expect(page.locator('main').getByRole('alert')).toContainText(/Resume/);
  await expect(page.getByText('Failed', { exact: true })).toBeVisible();
  await screenshot(app, 'run-failed');
  const { progress } = await callService<RunRecord>(app, 'run', { run: id });
  await page.getByRole('button', { name: 'Resume' }).click();
  await waitForState(app, id, 'running');
  await waitForEpoch(app, id, (progress?.epoch ?? 0) + 5);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await waitForState(app, id, 'stopped');

  await test.step('a run that diverges says where, what is kept and what to try', async () => {
    const { config } = await callService<RunRecord>(app, 'run', { run: id });
    const { training } = config as NetworkConfig;
    const optimizer = { ...training.optimizer, name: 'sgd', learningRate: 0.9, momentum: 0 };
    const schedule = { ...training.schedule, name: 'constant' };
    const wild = await callService<RunRecord>(app, 'startRun', {
      name: 'Too fast',
      config: {
        ...config,
        settings: { ...config.settings, target: 'height', task: 'regression' },
        model: mlp([]),
        training: { ...training, epochs: 500, batch: 1600, optimizer, schedule },
      },
    });
    const ended = await waitForState(app, wild.id, 'diverged');
    await page.evaluate((run) => (location.hash = `#run/${run}`), wild.id);
    const { divergence, bestEpoch } = ended.result!;
    const alert = page.locator('main').getByRole('alert');
    await expect(alert).toContainText(`at step ${divergence!.step}. The weights of epoch ${bestEpoch} are kept.`);
    await expect(alert).toContainText('lower learning rate (it is 0.9)');
    await expect(page.locator('header').getByText('Diverged', { exact: true })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Resume' })).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Run again with changes' })).toBeVisible();
    await screenshot(app, 'run-diverged');
    await page.evaluate(() => (location.hash = '#runs'));
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Diverged' }).click();
    await expect(page.getByRole('link', { name: 'Too fast' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Doomed' })).toHaveCount(0);
    await screenshot(app, 'runs-diverged');
  });
});

/** Waits until the first view is there: before that nobody listens for a drop. */
async function ready({ page }: App): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
}

/** How many choices the target has. */
async function targets({ page }: App): Promise<number> {
  return page.getByRole('combobox', { name: 'Target column' }).locator('option').count();
}
