// The whole way by keyboard alone: palette, table, editor, chart, compare.

import fs from 'node:fs';
import path from 'node:path';
import { expect, saveNextAs, test } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';

test('from data to a comparison without a pointer', async ({ app }) => {
  test.setTimeout(90_000);
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 1000));
  const { id } = await startRun(app, dataset, 5, 'First');
  await waitForState(app, id, 'completed');

  await test.step('the palette opens a dataset', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('points');
    const option = page.getByRole('option', { name: 'points', exact: true });
    await expect(option).toBeVisible();
    while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'points' })).toBeVisible();
  });

  await test.step('a column is selected and left out, and taken back', async () => {
    await page.getByRole('button', { name: 'height', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('x');
    await expect(page.getByText('left out', { exact: true })).toBeVisible();
    await page.keyboard.press('x');
    await expect(page.getByText('left out', { exact: true })).toBeHidden();
  });

  await test.step('a layer is moved and another removed; the run is started', async () => {
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Small MLP' }).focus();
    await page.keyboard.press('Enter');
    const first = page.getByRole('textbox', { name: 'Units of Dense 1' });
    await expect(first).toHaveValue('64');
    await first.focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect(first).toHaveValue('32');
    await page.getByRole('button', { name: 'Remove layer 2, Dense' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: 'Units of Dense 2' })).toHaveCount(0);
    await page.getByRole('textbox', { name: 'Epochs', exact: true }).fill('5');
    await page.getByRole('button', { name: 'Take one training' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name of the run' }).fill('Second');
    await page.keyboard.press('Control+Enter');
    await expect(page.getByText('Completed').first()).toBeVisible();
  });

  await test.step('the chart is read with the arrow keys', async () => {
    const chart = page.getByRole('slider', { name: 'Loss chart' });
    // Keys that come before the points move nothing.
    await expect(chart).toHaveAttribute('aria-valuetext', /validation/);
    await chart.focus();
    await page.keyboard.press('Home');
    await expect(chart).toHaveAttribute('aria-valuetext', /^epoch .*validation/);
    const before = await chart.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowRight');
    await expect(chart).not.toHaveAttribute('aria-valuetext', before ?? '');
    await page.keyboard.press('+');
    await expect(page.getByRole('button', { name: 'Reset zoom' }).first()).toBeVisible();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Reset zoom' })).toHaveCount(0);
  });

  await test.step('the evaluation: a threshold by keys, another split, rows that open, the way back', async () => {
    await page.keyboard.press('Alt+2');
    await expect(page.getByRole('tab', { name: 'Evaluation' })).toHaveAttribute('aria-selected', 'true');
    const scores = page.getByRole('region', { name: 'Table of scores' });
    await expect(scores.getByRole('row', { name: /ROC area/ })).toContainText(/0\.\d{4}.*0\.\d{3}–/);
    await expect(page.getByText('test never opened')).toBeVisible();
    const matrix = page.getByRole('table', { name: 'Confusion matrix' });
    const before = await matrix.textContent();
    await page.getByRole('slider', { name: 'Threshold' }).focus();
    for (let i = 0; i < 8; i++) await page.keyboard.press('PageUp');
    await expect(page.getByText(/threshold 0\.90/)).toBeVisible();
    await expect.poll(() => matrix.textContent()).not.toBe(before);
    // T and E of the pane with the focus: its figures in place of the drawing, and the ways out.
    await page.keyboard.press('t');
    const table = page.getByRole('table', { name: 'Threshold as a table' });
    await expect(table.getByRole('columnheader')).toHaveText([
      /^threshold/,
      /cost a row/,
      /found/,
      /missed/,
      /needless/,
      /left/,
    ]);
    await page.keyboard.press('t');
    await expect(page.getByRole('img', { name: /^Cost a row by threshold/ })).toBeVisible();
    await page.keyboard.press('e');
    await expect(page.getByRole('menuitem')).toHaveText(['Save as PNG…', 'Save as SVG…', 'Save as CSV…']);
    const drawing = path.join(app.home, 'threshold.svg');
    await saveNextAs(app, drawing);
    await page.getByRole('menuitem', { name: 'Save as SVG…' }).press('Enter');
    await expect(page.getByText('Saved as threshold.svg')).toBeVisible();
    expect(fs.readFileSync(drawing, 'utf8')).toMatch(/^<svg .*>Threshold<\/text>.*stroke="rgb/s);
    await page.getByRole('radio', { name: 'Validation' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByText(/test opened once/)).toBeVisible();
    await page.getByRole('button', { name: 'Cheapest' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByText(/on validation, applied to test/)).toBeVisible();
    await expect(page.getByRole('img', { name: /Calibration: off by 0\.\d/ })).toBeVisible();
    await page.getByRole('button', { name: 'Open in the table' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByText(/rows?: worst rows/)).toBeVisible();
    await expect(
      page
        .getByRole('table', { name: /Rows of points/ })
        .getByRole('row')
        .nth(1),
    ).toContainText(/\d\.\d/);
    await page.keyboard.press('Alt+ArrowLeft');
    await expect(page.getByRole('tab', { name: 'Evaluation' })).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Alt+1');
    await expect(page.getByRole('slider', { name: 'Loss chart' })).toBeVisible();
  });

  await test.step('two runs are selected in the table and compared', async () => {
    await page.keyboard.press('Control+2');
    const grid = page.getByRole('grid', { name: 'Runs' });
    await expect(grid.getByRole('row')).toHaveCount(3);
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('x');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('x');
    await page.keyboard.press('Control+Shift+C');
    await expect(page.getByRole('heading', { name: 'Compare' })).toBeVisible();
    await expect(page.getByLabel('Reading')).toContainText('A');
    await page.getByRole('button', { name: 'Test B against A on the same rows' }).focus();
    await page.keyboard.press('Enter');
    await expect(
      page.getByText(/(A is better than B|B is better than A) on \d+ of \d+ rows, worse on \d+: p [=<]/),
    ).toBeVisible();
  });

  await test.step('F6 goes round the window; Back goes back', async () => {
    await page.keyboard.press('F6');
    await page.keyboard.press('F6');
    expect(await page.evaluate(() => document.activeElement?.closest('[data-region]') !== null)).toBe(true);
    await page.keyboard.press('Alt+ArrowLeft');
    await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible();
  });
});

test('every control that takes the focus has a name and shows the focus', async ({ app }) => {
  const { page } = app;
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const seen = new Set<string>();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return {
        name: element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '',
        ring: outlineStyle !== 'none' && outlineWidth !== '0px',
        body: element === document.body,
      };
    });
    if (focus.body) continue;
    expect(focus.name).not.toBe('');
    expect(focus.ring, focus.name).toBe(true);
    if (seen.has(focus.name)) break;
    seen.add(focus.name);
  }
  expect(seen.size).toBeGreaterThan(8);
});
