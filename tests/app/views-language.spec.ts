// A book in the window: dropped, learned, its samples read, and a text written with it that is the one `generate` writes.

import fs from 'node:fs';
import path from 'node:path';
import { lastEvent } from '../support/cli.ts';
import { dropFiles, expect, screenshot, test } from './launch.ts';

/** Sentences in a round: what follows is told by what was before. */
function writeBook(folder: string): string {
  const sentences = [
    'The cat sat on the mat, and',
    'the dog lay by the door;',
    'a bird sang to them all:',
    'nobody listened.',
  ];
  const file = path.join(folder, 'book.txt');
  fs.writeFileSync(file, Array.from({ length: 1200 }, (_, i) => sentences[i % 4]).join('\n'));
  return file;
}

test('drop a book, watch it learn to write, and write with it', async ({ app }) => {
  test.setTimeout(300_000);
  const { page, home } = app;
  await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
  await dropFiles(app, writeBook(home));

  await test.step('the text in tokens, and what is made of it', async () => {
    await expect(page.getByRole('heading', { name: 'book', level: 1 })).toBeVisible();
    const text = page.getByRole('region', { name: 'Text' });
    await expect(text).toContainText('Different tokens');
    await expect(text.locator('dl')).toContainText('64 tokens');
    await expect(text.getByLabel('Context')).toHaveValue('64');
    const split = page.getByRole('region', { name: 'Split' });
    await expect(split.getByText(/^22,\d\d\d tokens$/)).toBeVisible();
    await expect(split.getByText('By chance')).toHaveCount(0);
    await text.getByLabel('Context').fill('32');
    await expect(text.locator('dl')).toContainText('32 tokens');
    await screenshot(app, 'language-dataset');
  });

  await test.step('models that look back alone are offered', async () => {
    await page.getByRole('button', { name: 'New run with this data' }).click();
    await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
    const models = page.getByRole('region', { name: 'Models to start from' });
    await expect(models.getByRole('button', { name: /^Small GPT/ })).toHaveAttribute('aria-pressed', 'true');
    await expect(models.getByRole('button', { name: /BERT|Best of all|trees/ })).toHaveCount(0);
    await expect(page.getByRole('region', { name: 'Outlook' })).toContainText(/CPU: .*\d/);
    await screenshot(app, 'language-new-run');
  });

  await test.step('it writes while it learns', async () => {
    await page.getByRole('button', { name: 'Start' }).click();
    const samples = page.getByRole('region', { name: 'Samples' });
    await expect(samples.getByText(/^step \d/).first()).toBeVisible({ timeout: 120_000 });
    await expect(samples.getByText(/^validation \d.* bits per byte$/).first()).toBeVisible({ timeout: 60_000 });
    await screenshot(app, 'language-run');
    const tabs = page.getByRole('tablist', { name: 'Run' });
    await expect(tabs.getByRole('tab', { name: /Evaluation|Predict|Explain/ })).toHaveCount(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(page.getByText('Stopped').first()).toBeVisible({ timeout: 60_000 });
    await screenshot(app, 'language-ended');
  });

  await page.getByRole('tab', { name: 'Write' }).click();
  const pane = page.getByRole('region', { name: 'Write', exact: true });
  await test.step('the same seed writes what generate writes', async () => {
    await pane.getByRole('textbox', { name: 'Prompt' }).fill('The cat sat');
    await pane.getByLabel('Tokens').fill('70');
    await pane.getByLabel('Seed').fill('7');
    await page.keyboard.press('Control+Enter');
    await expect(pane.getByText(/^70 tokens, .* seed 7/)).toBeVisible();
    await expect(pane.getByRole('article', { name: 'The text' })).toHaveAttribute('aria-busy', 'false');
    const { text } = await lastEvent(home, 'generate', '1', '--prompt', 'The cat sat', '--tokens', '70', '--seed', '7');
    expect((text as string).length).toBe(70);
    await expect(pane.locator('article p.text').first()).toHaveText(`The cat sat${text as string}`, {
      useInnerText: true,
    });
  });

  await test.step('a long one is cancelled, and what there is stays', async () => {
    await pane.getByLabel('Tokens').fill('100000');
    await pane.getByRole('textbox', { name: 'Prompt' }).press('Control+Enter');
    const article = pane.getByRole('article', { name: 'The text' });
    await expect.poll(async () => (await article.locator('.text').textContent())?.length ?? 0).toBeGreaterThan(80);
    await page.keyboard.press('Escape');
    await expect(article).toContainText('cancelled');
    await expect(article).toHaveAttribute('aria-busy', 'false');
    await expect(pane.getByRole('article', { name: 'Earlier text' })).toContainText('The cat sat');
    await screenshot(app, 'language-write');
  });
});
