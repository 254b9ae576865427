// Compare with many runs: axes to brush, move and turn, the table and the scatter beside them; the address holds it all.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createStore } from '../../engine/history/store.ts';
import { exampleConfig, newRun, point } from '../unit/fixtures/history.ts';
import { lastEvent, penguins } from '../support/cli.ts';
import { expect, launch, screenshot, test } from './launch.ts';

const count = 12;

async function makeHome(home: string): Promise<void> {
  const store = createStore(home);
  const { training } = exampleConfig;
  for (let index = 0; index < count; index++) {
    const learningRate = 10 ** -(1 + (index % 4));
    const config = {
      ...exampleConfig,
      training: { ...training, batch: 16 << (index % 3), optimizer: { ...training.optimizer, learningRate } },
    };
    const { id } = await store.createRun(newRun({ name: `sweep ${index + 1}`, config }));
    const accuracy = 0.8 + 0.01 * ((index * 7) % count);
    await store.append({ run: id, points: [point('val_loss', 1, 1 - accuracy), point('val_accuracy', 1, accuracy)] });
    const seconds = { secondsElapsed: 30 + 11 * ((index * 5) % count), secondsTraining: 1, secondsLeft: 0 };
    const progress = { epoch: 1, epochs: 1, step: 1, steps: 1, examplesPerSecond: 1, loss: 1, ...seconds };
    await store.updateRun({ run: id, patch: { state: 'stopped', startedAt: 1, endedAt: 2, progress } });
  }
  await store.close();
}

test('many runs: brush, pin, drop, move and turn axes; the address keeps them; the table as a file', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-many-'));
  await makeHome(home);
  for (const more of [['--penalty', '1000000'], []])
    await lastEvent(home, 'train', penguins, '--model', 'linear', ...more);
  const app = await launch({ home });
  const { page } = app;
  await expect(page.getByRole('link', { name: `Runs ${count + 2}` })).toBeVisible();
  const ids = Array.from({ length: count }, (_, index) => index + 1).join(',');
  await page.evaluate((all) => (location.hash = `#compare/${all}`), ids);
  const axes = page.getByRole('region', { name: 'Settings and scores' });
  await expect(axes.getByRole('button', { name: /^Axis learning rate/ })).toBeVisible();
  for (const width of [1100, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await screenshot(app, `compare-many-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });

  await axes.getByRole('button', { name: /^Axis validation accuracy/ }).focus();
  await page.keyboard.press('Enter');
  await expect(axes.getByRole('button', { name: /^Axis validation accuracy, turned/ })).toBeVisible();
  await page.keyboard.press('Enter');
  const box = (await axes.locator('rect.reach').last().boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await expect(axes.getByRole('status')).toHaveText(/6 of 12 within the brush/);
  await screenshot(app, 'compare-many-brushed');
  // The same part by keys alone: its lower end half way up.
  const chosen = axes.getByRole('button', { name: /^Axis validation accuracy/ });
  await chosen.focus();
  await page.keyboard.press('Escape');
  await expect(axes.getByRole('status')).not.toHaveText(/within the brush/);
  for (let step = 0; step < 10; step++) await page.keyboard.press('ArrowUp');
  await expect(axes.getByRole('status')).toHaveText(/6 of 12 within the brush/);
  await page.keyboard.press('Shift+ArrowDown');
  expect(await page.evaluate(() => decodeURIComponent(location.hash))).toContain('~0.500~0.950');

  const rows = page.getByRole('region', { name: 'Table of runs' }).getByRole('row');
  await rows.nth(1).focus();
  await page.keyboard.press('p');
  await expect(page.getByText('5 of 6 pinned')).toBeVisible();
  await page.keyboard.press('x');
  await expect(rows).toHaveCount(count);
  // The keyboard goes on at the next row; on the button in it, Enter pins.
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press('Tab');
  const pin = rows.nth(1).getByRole('button');
  const pinned = await pin.getAttribute('aria-pressed');
  for (const next of [pinned === 'true' ? 'false' : 'true', pinned!]) {
    await page.keyboard.press('Enter');
    await expect(pin).toHaveAttribute('aria-pressed', next);
  }
  await axes.getByRole('button', { name: /^Axis time/ }).focus();
  await page.keyboard.press('ArrowLeft');
  expect(await page.evaluate(() => location.hash)).toMatch(/^#compare\/[\d,]+\?.*brush=.*pinned=.*axes=/);
  await page.getByRole('combobox', { name: 'To the right' }).selectOption({ label: 'Learning rate' });
  await expect(
    page.getByRole('img', { name: /^validation accuracy by learning rate; \d+ runs? are beaten by none/ }),
  ).toBeVisible();
  const file = path.join(home, 'table.csv');
  await app.electron.evaluate(({ dialog }, filePath) => {
    Object.assign(dialog, { showSaveDialog: async () => ({ canceled: false, filePath }) });
  }, file);
  await page.getByRole('button', { name: 'Export table…' }).click();
  await expect.poll(() => fs.existsSync(file)).toBe(true);
  expect(fs.readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(count);
  await page.getByText('Curves', { exact: true }).click();
  await expect(page.getByRole('region', { name: 'Settings and results', exact: true })).toBeVisible();

  // The two that were trained, and one that has no weights: the pane says which pair is told apart, and why one is not tested.
  await page.evaluate((all) => (location.hash = `#compare/${all}?pinned=13,14,1`), `${ids},13,14`);
  await page.getByText('Axes', { exact: true }).click();
  const paired = page.getByRole('region', { name: 'Paired test' });
  await paired.getByRole('button', { name: 'Test the pinned runs' }).click();
  await expect(paired.getByRole('status')).toHaveText(
    /^B is better than A on \d+ of \d+ rows, worse on 0: p < 0\.001\. B is better\.$/,
  );
  await expect(paired.getByRole('row')).toHaveText([
    /Pair/,
    /B over A.*better/,
    /A and C.*C still training|has no weights/,
    /has no weights/,
  ]);
  for (const width of [1100, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await screenshot(app, `compare-many-paired-${width}`);
  }
  // One that is not there leaves the others compared; dropped by key, the keyboard stands at the one beside it.
  await page.evaluate(() => (location.hash = '#compare/1,2,99,3'));
  await expect(page.getByText('There is no run 99, or not any more.')).toBeVisible();
  await page.getByRole('button', { name: 'Drop sweep 2' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Drop sweep 3' })).toBeFocused();
  // From the table of many runs to the keys of fewer, too; and what is told of a run has its number, which no other has.
  await page.evaluate(() => (location.hash = '#compare/1,2,3,4,5,6,7'));
  await page.getByRole('row', { name: 'sweep 4' }).press('x');
  await expect(page.getByRole('button', { name: /^Drop sweep \d+ \(run \d+\)$/ })).toHaveCount(6);
  await expect(page.getByRole('button', { name: /^Drop / }).and(page.locator(':focus'))).toHaveCount(1);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});
