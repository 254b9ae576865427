// Few rows: New run begins with 5 folds, and the run that comes of it is a model like any other. It predicts a file as the mean of its folds,
// says what if, is explained out of fold and leaves as ONNX with its certificate.

import fs from 'node:fs';
import path from 'node:path';
import { callService, chooseNext, dropFiles, expect, screenshot, testsOfOneApp } from './launch.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { waitForState, writeTable } from './scene.ts';

const test = testsOfOneApp();

test('a small table: 5 folds by default, and the cross-validation predicts, explains and is exported', async ({
  app,
}) => {
  test.setTimeout(180_000);
  const { page } = app;
  const sized = async (name: string): Promise<void> => {
    const window = await app.electron.browserWindow(page);
    for (const width of [1100, 1440, 1920]) {
      await window.evaluate((shown, w) => shown.setContentSize(w, 900), width);
      await screenshot(app, `${name}-${width}`);
    }
  };
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await dropFiles(app, writeTable(app.home, 240));
  await page.getByRole('button', { name: 'New run with this data' }).click();
  // The best of all takes folds by itself.
  await expect(page.getByRole('button', { name: /^Best of all/, pressed: true })).toBeVisible();
  await expect(page.getByLabel('Cross-validation')).toHaveCount(0);

  await test.step('another learner begins with folds, one press away from one training', async () => {
    await page.getByRole('button', { name: /^Boosted trees/ }).click();
    const folds = page.getByLabel('Cross-validation');
    await expect(folds).toHaveValue('5');
    await expect(page.getByText(/^5 folds test all 240 rows/)).toBeVisible();
    await expect(page.getByText(/5 trainings, one a fold: 5 times the time of one/)).toBeVisible();
    await sized('new-five-folds');
    await page.getByRole('button', { name: 'Take one training' }).click();
    await expect(folds).toHaveValue('');
    await expect(page.getByText(/trainings, one a fold/)).toHaveCount(0);
    await page.getByRole('button', { name: 'Take 5 folds' }).click();
    await expect(folds).toHaveValue('5');
  });

  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/#run\/\d+$/);
  const { id, result } = await waitForState(app, Number(/\d+$/.exec(page.url())![0]), 'completed');
  expect(result!.folds!.of).toBe(5);
  await expect(page.getByRole('tab')).toHaveText(['Overview', 'Evaluation', 'Explain', 'Predict', 'Files']);

  await test.step('it predicts a file as the mean of its folds, and says what if', async () => {
    const other = path.join(app.home, 'other.csv');
    fs.writeFileSync(other, 'width,height\n1.5,1.2\n-1.4,-1\n0.1,-0.1\n');
    await page.getByRole('tab', { name: 'Predict' }).click();
    await expect(page.getByRole('region', { name: 'What if' }).getByRole('slider').first()).toBeVisible();
    await chooseNext(app, other);
    await page.getByRole('button', { name: 'Choose file…' }).first().click();
    await expect(page.getByText('2 of 2 matched')).toBeVisible();
    const told = page.getByRole('region', { name: 'Predictions', exact: true });
    await expect(told.getByRole('row')).toHaveText([/^Row/, /^1above/, /^2below/, /^3/]);
    const whole = await probabilities(id, other);
    const each: (readonly number[])[] = [];
    for (let fold = 1; fold <= 5; fold++) each.push(await probabilities(id + fold, other));
    whole.forEach((p, row) => expect(p).toBeCloseTo(each.reduce((sum, one) => sum + one[row], 0) / 5, 5));
    await sized('folds-predict');
  });

  /** Of the second class, row by row. */
  async function probabilities(run: number, file: string): Promise<readonly number[]> {
    await chooseNext(app, file);
    const { token } = await callService<{ token: string }>(app, 'choose', { kind: 'file' });
    const { prediction } = await callService<{ prediction: string }>(app, 'predictFile', {
      ...{ job: `folds-${run}`, run, tokens: [token], match: {} },
    });
    const asked = { prediction, offset: 0, limit: 3 };
    const found = await callService<{ probabilities: Readonly<Record<number, number>> }>(app, 'predictedRows', asked);
    return [0, 1, 2].map((row) => found.probabilities[2 * row + 1]);
  }

  await test.step('it is explained out of fold', async () => {
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    const columns = page.getByRole('region', { name: 'Columns by importance' });
    await expect(columns.getByRole('button').first()).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText('240 rows · computed in')).toBeVisible();
    await expect(page.getByText('p(below)').first()).toBeVisible();
    await sized('folds-explain');
  });

  await test.step('it leaves as ONNX with its certificate, and has nothing to go on with', async () => {
    await page.getByRole('tab', { name: 'Files' }).click();
    const table = page.getByRole('region', { name: 'Table of exports' });
    await expect(table.getByRole('row')).toHaveCount(5);
    await page.getByRole('button', { name: 'Export all' }).click();
    await expect(table.getByText('certified', { exact: true })).toBeVisible({ timeout: 60_000 });
    await expect(table.getByText('read back', { exact: true })).toHaveCount(3, { timeout: 30_000 });
    await expect(page.getByText(/predicts as the mean of its folds\. Each of them can go on/)).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Checkpoints' })).toHaveCount(0);
    await sized('folds-files');
  });

  await test.step('it is evaluated out of fold, and on another file', async () => {
    await page.getByRole('tab', { name: 'Evaluation' }).click();
    await expect(page.getByText('each predicted by the fold that did not learn from it')).toBeVisible();
    const more = writeTable(app.home, 60, 'more.csv');
    await chooseNext(app, more);
    await page.getByRole('button', { name: 'Another file…' }).click();
    await expect(page.getByText('predicted as the mean of its folds')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Scores', exact: true })).toContainText('more.csv');
    await sized('folds-evaluate-file');
  });
  const { runs } = await callService<{ runs: readonly RunRecord[] }>(app, 'runs', { withoutFolds: true });
  expect(runs.map((run) => run.id)).toEqual([id]);
});
