// A table of texts in the window: dropped, its column read by a press, its tokens looked at, trained on, and a text of one's own predicted.

import fs from 'node:fs';
import path from 'node:path';
import { dropFiles, expect, screenshot, test } from './launch.ts';

/** What decides is words: which ones, and side by side. */
function writeReviews(folder: string): string {
  const goods = ['bread', 'tea', 'soup', 'a lamp', 'two chairs', 'the blue bag'];
  const [praise, blame] = [
    ['lovely', 'would buy again', 'fresh and well packed'],
    ['stale', 'sent it back', 'broken on arrival'],
  ];
  const lines = Array.from({ length: 300 }, (_, row) => {
    const words = (row % 2 === 0 ? praise : blame)[row % 3];
    return `${1 + ((row * 7) % 5)},"Ordered ${goods[row % 6]}, no. ${row}: ${words}!",${row % 2 === 0 ? 'yes' : 'no'}`;
  });
  const file = path.join(folder, 'reviews.csv');
  fs.writeFileSync(file, ['stars,review,liked', ...lines].join('\n') + '\n');
  return file;
}

/** Prices go by one word, and by chance. */
function writePrices(folder: string): string {
  const goods = ['lamp', 'chair', 'table', 'bed'];
  const lines = Array.from({ length: 400 }, (_, row) => {
    const good = row % 4;
    const words = `Offer ${row}: a ${goods[good]} of oak, delivered to your door within a week, and taken back within thirty days if you do not like it`;
    return `"${words}",${20 * (good + 1) + ((row * 37) % 11)}`;
  });
  const file = path.join(folder, 'prices.csv');
  fs.writeFileSync(file, ['offer,price', ...lines].join('\n') + '\n');
  return file;
}

test('drop a table of texts, use its words, train, and ask about a text of one’s own', async ({ app }) => {
  test.setTimeout(180_000);
  const { page } = app;
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await dropFiles(app, writeReviews(app.home));
  await test.step('a column of text is left out until it is used', async () => {
    await expect(page.getByRole('heading', { name: 'reviews', level: 1 })).toBeVisible();
    await expect(page.getByRole('combobox', { name: 'Target column' })).toHaveValue('liked');
    await expect(page.getByText(/review is text and is left out/)).toBeVisible();
    await page.getByRole('button', { name: 'review', exact: true }).click();
    await expect(page.getByText(/^It is left out, as texts are read where you say so/)).toBeVisible();
    await page.getByRole('button', { name: 'Use its words' }).first().click();
    await expect(page.getByText(/review is text and is left out/)).toHaveCount(0);
    await expect(page.getByRole('region', { name: 'Columns used' })).toContainText(
      '2 columns of 3. Left out: nothing.',
    );
  });

  await test.step('what its tokens look like', async () => {
    const text = page.locator('p[aria-label$=" tokens"]').first();
    await expect(text).toHaveText(/Ordered bread, no\. 0: lovely!/);
    await expect(text).toHaveAttribute('aria-label', '5 tokens');
    await page.getByRole('combobox', { name: 'Tokens', exact: true }).selectOption('characters');
    await expect(text).toHaveAttribute('aria-label', '29 tokens');
    await screenshot(app, 'dataset-texts');
    await page.getByRole('combobox', { name: 'Tokens', exact: true }).selectOption('words');
    await expect(text).toHaveAttribute('aria-label', '5 tokens');
  });

  await test.step('a linear model counts them', async () => {
    await page.getByRole('button', { name: 'New run with this data' }).click();
    await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
    await page.getByRole('button', { name: /^Linear model/ }).click();
    await page.getByRole('button', { name: 'Take one training' }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 60_000 });
  });

  await test.step('a prediction with its words', async () => {
    await page.getByRole('tab', { name: 'Predict' }).click();
    await expect(page.getByText('Drop a table with these 2 columns.')).toBeVisible();
    const form = page.getByRole('region', { name: 'What if' });
    await form.getByRole('textbox', { name: 'review' }).fill('Soup: lovely, would buy again!');
    await expect(form.locator('.answer')).toContainText('yes');
    await expect.poll(async () => Number(await form.locator('output').textContent())).toBeGreaterThan(0.8);
    await form.getByRole('textbox', { name: 'review' }).fill(`Soup: lovely! ${'It came. '.repeat(20)}`);
    await expect(form.getByText(/review: the text is longer than the \d+ tokens( or \d+ characters)? /)).toBeVisible();
    await form.getByRole('textbox', { name: 'review' }).fill('Soup was stale, sent it back');
    await expect.poll(async () => Number(await form.locator('output').textContent())).toBeLessThan(0.2);
    await expect(form.getByText(/is longer than/)).toHaveCount(0);
    await screenshot(app, 'predict-texts');
  });

  await test.step('numbers learned from nothing but texts', async () => {
    await page.getByRole('link', { name: 'Datasets' }).first().click();
    await dropFiles(app, writePrices(app.home));
    await expect(page.getByRole('heading', { name: 'prices', level: 1 })).toBeVisible();
    await page.getByRole('button', { name: 'New run with this data' }).click();
    await page.getByRole('button', { name: /^Linear model/ }).click();
    await page.getByRole('button', { name: 'Take one training' }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 60_000 });
    await page.getByRole('tab', { name: 'Evaluation' }).click();
    const worst = page.getByRole('region', { name: 'Worst rows', exact: true });
    await expect(worst.getByRole('columnheader').last()).toHaveText('offer');
    const text = worst.getByTitle(/^Offer \d+: .*, delivered to your door/).first();
    await expect(text).toBeVisible();
    expect((await text.getAttribute('title'))?.length).toBeGreaterThan(100);
    await expect(page.getByText('Its columns are texts: no rows share a value.')).toHaveCount(2);
    await screenshot(app, 'evaluation-texts');
  });
});

test('a recurrent network, with layers added in the editor, learns texts in the window', async ({ app }) => {
  test.setTimeout(180_000);
  const { page } = app;
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await dropFiles(app, writeReviews(app.home));
  await page.getByRole('button', { name: 'Use its words' }).first().click();
  await expect(page.getByRole('region', { name: 'Columns used' })).toContainText('2 columns of 3. Left out: nothing.');
  await page.getByRole('button', { name: 'New run with this data' }).click();
  await page.getByRole('button', { name: /^LSTM/ }).click();

  await test.step('a convolution behind the LSTM, and a pooling that learns', async () => {
    await page.getByRole('textbox', { name: /^Units of LSTM/ }).fill('24');
    await page.getByRole('button', { name: 'Add layer' }).click();
    await page.getByRole('menuitem', { name: 'Conv 1D', exact: true }).click();
    const filters = page.getByRole('textbox', { name: /^Filters of Conv 1D/ });
    await filters.fill('16');
    await filters.press('Tab');
    await page.getByRole('combobox', { name: /^Take of Pool positions/ }).selectOption('What it attends to');
    await expect(page.locator('main').getByRole('alert')).toHaveCount(0);
    await screenshot(app, 'new-run-recurrent');
  });

  await test.step('what a number stands for stays in its column', async () => {
    await page.getByRole('textbox', { name: /^Dimensions of Token embedding/ }).click();
    await page.getByRole('button', { name: 'Add layer' }).click();
    await page.getByRole('menuitem', { name: 'Position embedding', exact: true }).click();
    const hint = await page.getByText('0: as many as there are').boundingBox();
    const next = await page.getByRole('columnheader', { name: 'Output', exact: true }).boundingBox();
    expect(hint!.x + hint!.width).toBeLessThanOrEqual(next!.x);
    await screenshot(app, 'new-run-positions');
    await page.getByRole('button', { name: /^Remove layer \d+, Position embedding/ }).click();
  });

  await test.step('it trains and answers', async () => {
    const epochs = page.getByRole('textbox', { name: 'Epochs', exact: true });
    await epochs.fill('8');
    await epochs.press('Tab');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 90_000 });
    await page.getByRole('tab', { name: 'Predict' }).click();
    const form = page.getByRole('region', { name: 'What if' });
    await form.getByRole('textbox', { name: 'review' }).fill('Soup: lovely, would buy again!');
    await expect.poll(async () => Number(await form.locator('output').textContent())).toBeGreaterThan(0.8);
    await form.getByRole('textbox', { name: 'review' }).fill('Soup was stale, sent it back');
    await expect.poll(async () => Number(await form.locator('output').textContent())).toBeLessThan(0.2);
  });
});
