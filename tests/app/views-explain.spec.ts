// The tab Explain of a finished run: computed when asked for, columns by importance with their charts, one row whose contributions add
// up, another row and column at once, and a finding that starts the run it speaks of.

import fs from 'node:fs';
import path from 'node:path';
import { root, callService, chooseNext, expect, screenshot, testsOfOneApp } from './launch.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { importTable, runConfig, startRun, waitForEpoch, waitForState } from './scene.ts';

const test = testsOfOneApp();

test('a run is explained: columns, charts, a row, findings that start a run', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, path.join(root, 'samples/penguins.csv'));
  const { id } = await startRun(app, dataset, 12, 'penguins');
  await waitForState(app, id, 'completed');
  await page.evaluate((run) => (location.hash = `#run/${run}/explain`), id);
  await page.getByRole('button', { name: 'Explain', exact: true }).click();

  const columns = page.getByRole('region', { name: 'Columns by importance' });
  await expect(columns.getByRole('button').first()).toBeVisible({ timeout: 30_000 });
  const charts = page.getByRole('region', { name: 'Partial dependence' }).getByRole('figure');
  await expect(charts).toHaveCount(3);
  const other = columns.getByRole('button').nth(3);
  const name = (await other.locator('.name').innerText()).trim();
  await other.click();
  await expect(charts.first()).toHaveAccessibleName(new RegExp(`^${name}: `));

  const why = page.getByRole('region', { name: 'Why this row' });
  await expect(why.getByRole('heading')).toHaveText(/^Why row \d+$/);
  const numbers = (await why.locator('td:last-child').allInnerTexts()).map((text) => Number(text.replace('−', '-')));
  const [average, ...steps] = numbers;
  const prediction = steps.pop() ?? NaN;
  expect(Math.abs(average + steps.reduce((sum, step) => sum + step, 0) - prediction)).toBeLessThan(0.002);
  for (const width of [1100, 1440, 1920]) {
    await (await app.electron.browserWindow(page)).evaluate((window, w) => window.setContentSize(w, 900), width);
    await screenshot(app, `explain-${width}`);
  }

  // What was computed stays while tabs change.
  await page.getByRole('tab', { name: 'Evaluation' }).click();
  // Of three classes each curve has its name and area; one is chosen away.
  const roc = page.getByRole('region', { name: 'ROC', exact: true });
  for (const name of ['Adelie', 'Chinstrap', 'Gentoo'])
    await expect(roc.getByText(new RegExp(`^${name} [01]\\.\\d{3}`))).toBeVisible();
  await roc.getByRole('button', { name: 'Classes named in ROC' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Gentoo' }).click();
  await page.keyboard.press('Escape');
  await expect(roc.getByText(/^Gentoo/)).toHaveCount(0);
  await screenshot(app, 'roc-of-three-classes');
  // A file that is refused gives its name to no figures.
  const scores = page.getByRole('region', { name: 'Scores', exact: true });
  await expect(scores).toContainText('validation split');
  const refused = path.join(app.home, 'other.csv');
  fs.writeFileSync(refused, 'a,b\n1,2\n3,4\n');
  await chooseNext(app, refused);
  await page.getByRole('button', { name: 'Another file…' }).click();
  await expect(page.getByRole('tabpanel').getByRole('alert')).toBeVisible();
  await expect(scores).toContainText('validation split');
  await expect(page.getByText('other.csv', { exact: true })).toHaveCount(0);
  await page.getByRole('tab', { name: 'Explain' }).click();
  await expect(why.getByRole('heading')).toHaveText(/^Why row \d+$/);

  const findings = page.getByRole('region', { name: 'What the curves say' });
  const action = findings.getByRole('button', { name: /^(Run|Go on) / }).first();
  await expect(action).toBeVisible();
  await action.click();
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#run\/2/);
  const made = await callService<{ notes: string; parent: number }>(app, 'run', { run: 2 });
  expect(made.notes).toContain('After run 1, penguins: ');
  expect(made.parent).toBe(1);
  await expect(page.getByRole('link', { name: /^(advised by|continues) run 1/ })).toBeVisible();
  // While a run trains the app asks before it closes.
  await waitForState(app, 2, 'completed', 'stopped');
});

test('a forest is explained exactly, its trees are drawn, and it leaves in the formats that have words for it', async ({
  app,
}) => {
  const { page } = app;
  const dataset = await importTable(app, path.join(root, 'samples/penguins.csv'));
  const { model: _model, training: _training, ...common } = runConfig(dataset, 1);
  const forest = { trees: 8, minRows: 1, depth: 0, nodeFraction: 0, classWeights: 'none', bootstrap: 'yes' };
  const config = { ...common, learner: 'forest', forest };
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'forest', config });
  await waitForState(app, id, 'completed');
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  await expect(page.getByText('out of bag', { exact: true }).first()).toBeVisible();
  await screenshot(app, 'forest-overview');

  await page.evaluate((run) => (location.hash = `#run/${run}/explain`), id);
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  const why = page.getByRole('region', { name: 'Why this row' });
  await expect(why).toContainText('exact (TreeSHAP), in p(', { timeout: 30_000 });
  await page.getByRole('combobox', { name: 'Score' }).selectOption('gain');
  await expect(page.getByText('share of what all splits gained')).toBeVisible();
  await screenshot(app, 'forest-explain');

  await page.getByRole('tab', { name: 'Trees' }).click();
  const drawing = page.getByRole('region', { name: 'Drawing of the tree' });
  await expect(drawing.locator('[data-place="0"]')).toContainText('rows · gain');
  await drawing.locator('[data-place="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await expect(drawing.locator('[data-place]:focus')).not.toHaveAttribute('data-place', '0');
  const shown = await drawing.locator('[data-place]').count();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(drawing.locator('[data-place]')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(drawing.locator('[data-place]')).toHaveCount(shown);
  await page.getByRole('button', { name: 'Tree after' }).click();
  await expect(page.getByRole('heading', { name: 'Tree 2 of 8' })).toBeVisible();
  for (const width of [1100, 1440, 1920]) {
    await (await app.electron.browserWindow(page)).evaluate((window, w) => window.setContentSize(w, 900), width);
    await screenshot(app, `tree-${width}`);
  }

  await page.getByRole('tab', { name: 'Files' }).click();
  const formats = page.getByRole('region', { name: 'Table of exports' }).locator('tbody th');
  await expect(formats).toHaveText(['ONNX', 'Report', 'TensorBoard', 'MLflow folder', 'Specification']);
});

test('a run that went on is evaluated anew on the page that showed it before', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, path.join(root, 'samples/penguins.csv'));
  const { id } = await startRun(app, dataset, 6000, 'penguins');
  await waitForEpoch(app, id, 1);
  await callService(app, 'stopRun', { run: id });
  const before = (await waitForState(app, id, 'stopped')).result;
  await page.evaluate((run) => (location.hash = `#run/${run}/evaluation`), id);
  const loss = page.getByRole('region', { name: 'Table of scores' }).getByRole('row', { name: /^Log loss/ });
  await expect(loss).toBeVisible();
  const shown = await loss.innerText();

  await callService(app, 'resumeRun', { run: id });
  const after = (await waitForState(app, id, 'completed')).result;
  expect(after?.bestEpoch).not.toBe(before?.bestEpoch);
  await expect(loss).toBeVisible({ timeout: 30_000 });
  await expect.poll(() => loss.innerText()).not.toBe(shown);
});
