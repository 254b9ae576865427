// Best of all in the window: a table is dropped, some seconds are given, and the leaderboard leads to its members.

import { dropFiles, expect, screenshot, test } from './launch.ts';
import { writeTable } from './scene.ts';

test('best of all: drop a table, give it some seconds, open the leaderboard, open a member, predict', async ({
  app,
}) => {
  const { page } = app;
  test.setTimeout(120_000);
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  const file = writeTable(app.home, 600);
  await dropFiles(app, file);
  await page.getByRole('button', { name: 'New run with this data' }).click();
  await expect(page.getByRole('button', { name: /^Best of all/, pressed: true })).toBeVisible();
  await page.getByRole('textbox', { name: 'Minutes', exact: true }).fill('0.25');
  await page
    .getByRole('switch', { name: 'Learning curve' })
    .or(page.getByRole('checkbox', { name: 'Learning curve' }))
    .click();
  await screenshot(app, 'new-best-of-all');
  await page.getByRole('button', { name: 'Start', exact: true }).click();

  await expect(page.getByRole('heading', { level: 1, name: 'points-auto' })).toBeVisible();
  const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
  await expect(board.getByRole('link', { name: 'Linear model' })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('button', { name: 'Stop, keep the best' })).toBeVisible();
  await screenshot(app, 'best-of-all-live');
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 60_000 });
  await expect(board.getByRole('row', { name: /^1 (Ensemble of|The best one alone)/ })).toBeVisible();
  await expect(board.getByRole('row', { name: /Always the same answer/ })).toContainText(/right of the scale|0\.\d/);
  await screenshot(app, 'best-of-all');

  const loss = page.getByRole('region', { name: 'Loss', exact: true });
  await expect.poll(async () => (await loss.boundingBox())?.width).toBeGreaterThan(300);

  const curve = page.getByRole('region', { name: 'Learning curve', exact: true });
  await curve.getByRole('img').hover();
  await expect(curve.getByText(/^\d+ rows.*: [\d.]+ \([\d.]+ – [\d.]+\)$/)).toBeVisible();
  await curve.getByRole('button', { name: 'Export Learning curve' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
  await expect(curve.getByRole('table').getByRole('row').nth(1)).toBeVisible();

  await page.getByRole('tab', { name: 'Evaluation' }).click();
  await expect(page.getByRole('radio', { name: 'Test', exact: true })).toBeChecked();
  await page.getByText('Out of fold', { exact: true }).click();
  await expect(page.getByText(/540 rows.*each predicted by the models that did not learn from it/)).toBeVisible();
  await screenshot(app, 'best-of-all-evaluation');
  await expect(page.getByRole('radio', { name: 'Validation', exact: true })).toBeHidden();
  await page.getByRole('tab', { name: 'Files' }).click();
  const exports = page.getByRole('region', { name: 'Exports', exact: true });
  await expect(exports.getByText('Specification')).toBeVisible();
  await expect(exports.getByText('ONNX', { exact: true })).toBeVisible();
  await expect(exports.getByText(/PyTorch|safetensors/)).toBeHidden();
  const checkpoints = page.getByRole('region', { name: 'Checkpoints', exact: true });
  await expect(checkpoints.getByRole('cell', { name: 'everything' })).toBeVisible();
  await expect(checkpoints).not.toContainText(/ of /);
  await screenshot(app, 'best-of-all-files');
  await page.getByRole('tab', { name: 'Overview' }).click();

  await board.getByRole('link', { name: 'Linear model' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'points-auto, Linear model' })).toBeVisible();
  await page.getByRole('link', { name: 'member of run 1' }).click();
  await page.getByRole('tab', { name: 'Predict' }).click();
  // Until the tab stands there the window would import it.
  await expect(page.getByText(/^Drop a table/)).toBeVisible();
  await dropFiles(app, file);
  await expect(page.getByRole('table', { name: 'Predicted rows' }).getByRole('row').nth(2)).toContainText(
    /above|below/,
  );
});
