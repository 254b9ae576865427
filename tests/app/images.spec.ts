// The way of a person with a folder of pictures: drop it, look at it, train a small net, see which pictures it gets wrong,
// and show it a new one. By roles and labels only.

import fs from 'node:fs';
import path from 'node:path';
import { encoders, paint, type Painting } from '../support/pictures.ts';
import { violations } from './axe.ts';
import { drawn, dropFiles, expect, screenshot, test } from './launch.ts';

const side = 24;

/** A bright shape somewhere on noise: a disc, a square, or a ring that is hard to tell from a disc. */
function shape(kind: 'disc' | 'ring' | 'square', seed: number): Painting {
  let state = seed * 7919 + 17;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  random();
  const [x, y, size] = [8 + 8 * random(), 8 + 8 * random(), 4 + 3 * random()];
  const tint = [160 + 90 * random(), 160 + 90 * random(), 160 + 90 * random()];
  return (column, row) => {
    const [dx, dy] = [column - x, row - y];
    const distance = kind === 'square' ? Math.max(Math.abs(dx), Math.abs(dy)) : Math.hypot(dx, dy);
    const inside = distance < size && (kind !== 'ring' || distance > size - 2.5);
    const grain = 60 * random();
    return inside ? [tint[0], tint[1], tint[2]] : [grain, grain, grain];
  };
}

const kinds = ['disc', 'ring', 'square'] as const;

/** A folder with a sub-folder a class, and one file that is no picture. */
function writePictures(home: string, count: number): string {
  const folder = path.join(home, 'shapes');
  kinds.forEach((kind, k) => {
    fs.mkdirSync(path.join(folder, kind), { recursive: true });
    for (let i = 0; i < count; i++) {
      const file = path.join(folder, kind, `${kind}-${String(i).padStart(3, '0')}.png`);
      fs.writeFileSync(file, encoders.png(paint(side, side, shape(kind, 1 + k * 1000 + i))));
    }
  });
  fs.writeFileSync(path.join(folder, 'disc', 'broken.png'), 'not a picture');
  return folder;
}

test('drop a folder, train, open a cell of the confusion matrix, show the run a picture', async ({ app }) => {
  test.setTimeout(120_000);
  const { page } = app;
  await page.setViewportSize({ width: 1360, height: 900 });
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await dropFiles(app, writePictures(app.home, 60));

  await test.step('the dataset page', async () => {
    await expect(page.getByRole('heading', { name: 'shapes', level: 1 })).toBeVisible();
    const gallery = page.getByRole('listbox', { name: 'Pictures: All pictures' });
    await expect(gallery.getByRole('option', { name: /^disc\/disc-000\.png/ })).toBeVisible();
    await page.getByRole('button', { name: '1 file left out…' }).click();
    await expect(page.getByRole('dialog').getByRole('row', { name: /disc\/broken\.png/ })).toBeVisible();
    await page.keyboard.press('Escape');
    await screenshot(app, 'images-dataset');
  });

  await test.step('a double click opens a picture and leaves it open', async () => {
    await page.getByRole('option', { name: /^disc\/disc-000\.png/ }).dblclick();
    await expect(page.getByRole('dialog', { name: 'disc/disc-000.png' })).toBeVisible();
    await drawn(page);
    await expect(page.getByRole('dialog', { name: 'disc/disc-000.png' })).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('correct a label by keyboard, and take it back', async () => {
    await page.getByRole('button', { name: /^ring/ }).click();
    const gallery = page.getByRole('listbox', { name: 'Pictures: ring' });
    await expect(gallery.getByRole('option').first()).toHaveAttribute('aria-label', /^ring\/ring-000/);
    await gallery.focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    await page.getByRole('combobox', { name: 'Class' }).selectOption('disc');
    await screenshot(app, 'images-labels');
    await page.getByRole('button', { name: 'Give them this class' }).click();
    await expect(page.getByRole('button', { name: /^ring/ })).toContainText('58');
    await expect(gallery.getByRole('option').first()).toHaveAttribute('aria-label', /^ring\/ring-002/);
    await page.keyboard.press('Control+z');
    await expect(page.getByRole('button', { name: /^ring/ })).toContainText('60');
    await expect(gallery.getByRole('option').first()).toHaveAttribute('aria-label', /^ring\/ring-000/);
    await page.keyboard.press('Control+Shift+z');
    await expect(page.getByRole('button', { name: /^ring/ })).toContainText('58');
    await page.getByRole('button', { name: 'Take all back' }).click();
    await expect(page.getByRole('button', { name: /^ring/ })).toContainText('60');
    await page.getByRole('button', { name: 'New run with this data' }).click();
  });

  await test.step('a small net', async () => {
    await page.getByRole('button', { name: 'Small CNN' }).click();
    await page.getByRole('textbox', { name: 'Epochs', exact: true }).fill('6');
    await page.getByRole('textbox', { name: 'Epochs', exact: true }).press('Tab');
    const preview = page.getByRole('list', { name: 'Pictures as training step 1 sees them' });
    await expect(preview.getByRole('img')).toHaveCount(8);
    await page.getByRole('textbox', { name: 'Turn, degrees' }).fill('20');
    await page.getByRole('button', { name: 'Draw again' }).click();
    await expect(page.getByRole('list', { name: 'Pictures as training step 2 sees them' })).toBeVisible();
    await page.getByRole('button', { name: 'Draw again' }).scrollIntoViewIfNeeded();
    await screenshot(app, 'images-new-run');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
  });

  await test.step('the confusion matrix while it trains, and the pictures of a cell', async () => {
    const matrix = page.getByRole('table', { name: 'Confusion matrix' });
    await expect(matrix.getByRole('button')).toHaveCount(9, { timeout: 30_000 });
    await expect(page.getByText(/^All \d+ epochs/)).toBeVisible({ timeout: 60_000 });
    await expect(page.getByText(/kept weights, epoch/)).toBeVisible();
    await expect(
      page.getByRole('region', { name: 'Table of classes' }).getByRole('row', { name: /^ring/ }),
    ).toBeVisible();
    await screenshot(app, 'images-run');

    await matrix.getByRole('button', { name: /^disc/ }).first().focus();
    await page.keyboard.press('ArrowRight');
    await expect(matrix.getByRole('button', { name: /^disc taken for ring/ })).toBeFocused();
    const cell = matrix.getByRole('button', { name: /^(\w+): [1-9]/ }).first();
    const [, kind] = /^(\w+):/.exec((await cell.getAttribute('aria-label')) ?? '')!;
    await cell.click();
    const pictures = page.getByRole('listbox', { name: `Pictures: ${kind}, recognised` });
    await expect(pictures.getByRole('option').first()).toHaveAttribute('aria-label', new RegExp(`^${kind}/${kind}-`));
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'images-cell');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'images-cell-dark');
    await page.emulateMedia({ colorScheme: 'light' });
  });

  await test.step('where it looked, in a picture of the cell', async () => {
    await page.getByRole('listbox').getByRole('option').first().dblclick();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toBeVisible();
    await drawn(page);
    await expect(dialog.getByRole('list', { name: 'Probabilities' }).getByRole('listitem')).toHaveCount(3);
    await expect(dialog.getByRole('checkbox', { name: 'Show where it looked' })).toBeChecked();
    // Class activation and integrated gradients of one size, and pixels that add up to the score.
    const maps = dialog.getByRole('figure').getByRole('img');
    await expect(maps).toHaveCount(2);
    const [activation, gradients] = await Promise.all([0, 1].map((at) => maps.nth(at).boundingBox()));
    expect([gradients?.width, gradients?.height, gradients?.y]).toEqual([
      activation?.width,
      activation?.height,
      activation?.y,
    ]);
    const text = (await dialog.innerText()).replaceAll('−', '-').replace(/\s+/g, ' ');
    const [, change, sum] = /changes by (-?[\d.]+); its pixels add up to (-?[\d.]+)/.exec(text)!.map(Number);
    expect(Math.abs(sum - change)).toBeLessThanOrEqual(0.02 * Math.abs(change) + 0.011);
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'images-attention');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'images-attention-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  });

  await test.step('Predict of pictures takes the width of a narrow window', async () => {
    await page.setViewportSize({ width: 1100, height: 760 });
    await page.getByRole('tab', { name: 'Predict' }).click();
    const widths = await page.getByRole('region', { name: 'Predictions' }).evaluate((pane) => {
      const panel = pane.closest('[role="tabpanel"]')!;
      return [pane, panel].map((each) => each.getBoundingClientRect().width);
    });
    expect(widths[0]).toBe(widths[1]);
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  await test.step('a picture dropped on the finished run is classified at once', async () => {
    const file = path.join(app.home, 'unseen.png');
    fs.writeFileSync(file, encoders.png(paint(40, 30, shape('square', 5))));
    await dropFiles(app, file);
    const dialog = page.getByRole('dialog', { name: 'unseen.png' });
    const shares = dialog.getByRole('list', { name: 'Probabilities' }).getByRole('listitem');
    await expect(shares).toHaveCount(3);
    const percents = (await shares.allTextContents()).map((text) => Number(/([\d.]+)\s%/.exec(text)?.[1]));
    expect(percents[0]).toBeGreaterThanOrEqual(percents[1]);
    expect(Math.abs(percents.reduce((sum, share) => sum + share, 0) - 100)).toBeLessThan(0.5);
    await page.keyboard.press('Escape');

    await dropFiles(app, path.join(app.home, 'shapes', 'disc', 'broken.png'));
    await expect(page.getByRole('dialog')).toContainText('no picture that can be read');
    await page.keyboard.press('Escape');
  });

  await test.step('many pictures are all named, from a folder and one by one; a table is told what it is', async () => {
    await dropFiles(app, path.join(app.home, 'shapes'));
    const dialog = page.getByRole('dialog', { name: /\.png$/ });
    const list = dialog.getByRole('grid', { name: 'What it says they are' });
    await expect(list).toHaveAttribute('aria-rowcount', '181', { timeout: 60_000 });
    await expect(dialog).toContainText('1 file was left out');
    await list.focus();
    await page.keyboard.press('End');
    await expect(page.getByRole('dialog', { name: /square-059\.png$/ })).toContainText('180 of 180');
    await screenshot(app, 'images-many');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');

    const files = kinds.flatMap((kind) =>
      Array.from({ length: 10 }, (_, i) => path.join(app.home, 'shapes', kind, `${kind}-00${i}.png`)),
    );
    await dropFiles(app, ...files);
    await expect(list).toHaveAttribute('aria-rowcount', '31', { timeout: 60_000 });
    await page.keyboard.press('Escape');

    const table = path.join(app.home, 'notes.csv');
    fs.writeFileSync(table, `a,b\n${Array.from({ length: 40 }, (_, i) => `${i},${i % 3}`).join('\n')}\n`);
    await dropFiles(app, table, files[0], files[1]);
    await expect(list).toHaveAttribute('aria-rowcount', '3', { timeout: 60_000 });
    await expect(dialog).toContainText('notes.csv, it is a table, not a picture');
    await page.keyboard.press('Escape');

    await dropFiles(app, table);
    await expect(page.getByRole('dialog')).toContainText(/notes\.csv is a table[\s\S]*trainyard predict/);
    await screenshot(app, 'images-table-dropped');
    await page.getByRole('button', { name: 'Import it' }).click();
    await expect(page.getByRole('heading', { name: 'notes', level: 1 })).toBeVisible();
  });
});

test('the sample of pictures is drawn, and is the same dataset each time', async ({ app }) => {
  const { page } = app;
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await screenshot(app, 'welcome-samples');
  await page.getByRole('button', { name: 'Look at it: Shapes' }).click();
  await expect(page.getByRole('heading', { name: 'shapes', level: 1 })).toBeVisible();
  await expect(page.getByText('720 pictures in 6 classes')).toBeVisible();
  await expect(page.getByRole('button', { name: /^triangle/ })).toContainText('120');
  await expect(page.getByRole('listbox').getByRole('option').first()).toHaveAttribute(
    'aria-label',
    /^cross\/cross-001/,
  );
  expect(await violations(page)).toEqual([]);
  await screenshot(app, 'images-sample');
  const address = page.url();
  await page.evaluate(() => (location.hash = '#welcome'));
  await page.getByRole('button', { name: 'Look at it: Shapes' }).click();
  await expect(page.getByRole('heading', { name: 'shapes', level: 1 })).toBeVisible();
  expect(page.url()).toBe(address);
});
