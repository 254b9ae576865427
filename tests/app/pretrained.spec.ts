// A model that others have trained is dropped on the window: it is a run to begin with, what matches and what is new is shown, and a
// run with its body frozen is trained from there.

import fs from 'node:fs';
import path from 'node:path';
import { callService, dropFiles, expect, screenshot, test, type App } from './launch.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { lastEvent } from '../support/cli.ts';
import { noisyClasses, writeTree } from '../support/pictures.ts';
import { fileOf, goldenNets } from '../golden/pretrained-pictures.ts';
import { folderOf, goldenTexts, nested } from '../golden/pretrained-texts.ts';

/** Run 2, which begins with run 1, to its end. */
async function trainFromIt(app: App, epochs: string, rate?: string): Promise<RunRecord> {
  const { page } = app;
  await page.getByRole('textbox', { name: 'Epochs', exact: true }).fill(epochs);
  if (rate !== undefined) await page.getByRole('textbox', { name: 'Learning rate' }).first().fill(rate);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 120_000 });
  const run = await callService<RunRecord>(app, 'run', { run: 2 });
  expect([run.parent, run.relation, run.state]).toEqual([1, 'started from', 'completed']);
  return run;
}

test('a model that is dropped is something to begin with, its body frozen', async ({ app }) => {
  test.setTimeout(240_000);
  const { page } = app;
  const folder = fs.mkdtempSync(path.join(app.home, 'dropped-'));
  writeTree(folder, {
    'net.safetensors': fileOf(goldenNets['mobilenet_v2']),
    'pytorch_model.bin': 'PK\x03\x04',
    ...noisyClasses(['left', 'right', 'up'], 12, { size: 64, prefix: 'pictures/' }),
  });
  writeTree(path.join(folder, 'distilbert', 'model'), folderOf(goldenTexts.models['distilbert']));
  await dropFiles(app, path.join(folder, 'pictures'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('pictures');

  await dropFiles(app, path.join(folder, 'pytorch_model.bin'));
  await expect(page.getByText(/runs whatever program is written in it/)).toBeVisible();

  await dropFiles(app, path.join(folder, 'net.safetensors'));
  await expect(page.getByText(/Run 1: MobileNetV2 by torchvision's names, read from net\.safetensors/)).toBeVisible();
  const pane = page.getByRole('region', { name: 'Start from' });
  const fits = pane.getByRole('list', { name: 'What fits' });
  await expect(fits.getByRole('listitem')).toHaveText([
    /Layer 1 .* to layer \d+ .*taken, trained on/,
    /\(Output\)\s*new, drawn by chance: 3 outputs here, 5 there/,
  ]);
  const pixels = 'Pixels are read as run 1 reads them: mean 0.485, 0.456, 0.406, deviation 0.229, 0.224, 0.225.';
  await expect(pane.getByText(pixels)).toBeVisible();
  await pane.getByLabel('Layers frozen').selectOption({ label: 'The body: all before the head' });
  await expect(fits.getByRole('listitem').first()).toHaveText(/taken and frozen/);
  await screenshot(app, 'pretrained-new-run');
  await trainFromIt(app, '1');
  await test.step('run again with changes, it begins with the same weights', async () => {
    await page.getByRole('button', { name: 'Run again with changes' }).click();
    await expect(page.getByText('Begins with the best weights of run 1.')).toBeVisible();
    await expect(fits.getByRole('listitem').first()).toHaveText(/taken and frozen/);
    await pane.getByRole('combobox', { name: 'Weights of' }).selectOption({ index: 0 });
    await expect(pane.getByText(/The first \d+ layers are frozen as drawn by chance/)).toBeVisible();
    await pane.getByRole('button', { name: 'freeze none' }).click();
    await expect(pane.getByText(/as drawn by chance/)).toHaveCount(0);
  });

  // The page of a run on pictures takes pictures to predict.
  await page.getByRole('link', { name: 'Datasets' }).first().click();
  await dropFiles(app, path.join(folder, 'distilbert'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('distilbert');
  await expect(page.getByText('it has learned from no rows here')).toBeVisible();
  await expect(page.getByText('Results appear after')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Begin a run with it' })).toHaveAttribute('aria-disabled', 'true');
  await screenshot(app, 'pretrained-run');

  // Of pictures it begins a run on those that are here.
  await page.evaluate(() => (location.hash = '#run/1/files'));
  await expect(page.getByText('Begin a run on your own data with it, above.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Extend' })).toHaveCount(0);
  await screenshot(app, 'pretrained-files');
  await page.getByRole('button', { name: 'Begin a run with it' }).click();
  await expect(page.getByText('Begins with the best weights of run 1.')).toBeVisible();
});

test('a model of texts that is dropped begins a run on the texts that are here, by its own tokenizer', async ({
  app,
}) => {
  test.setTimeout(240_000);
  const { page } = app;
  const folder = fs.mkdtempSync(path.join(app.home, 'dropped-'));
  const weather = ['it rains and pours', 'the points freeze in winter'];
  const yard = ['the yard engine moves the wagons', 'the last of the trains comes back'];
  const lines = Array.from({ length: 120 }, (_, row) =>
    [`"${(row % 2 ? yard : weather)[(row >> 1) % 2]}, no. ${row}"`, row % 2 ? 'yard' : 'weather'].join(','),
  );
  writeTree(folder, {
    'notes.csv': ['note,about', ...lines].join('\n') + '\n',
    ...nested('bert', folderOf(goldenTexts.models['bert'])),
  });
  await test.step('without texts there is nothing to begin with', async () => {
    await dropFiles(app, path.join(folder, 'bert'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('bert');
    await expect(page.getByRole('button', { name: 'Begin a run with it' })).toHaveAttribute('aria-disabled', 'true');
  });

  const pane = page.getByRole('region', { name: 'Start from' });
  const fits = pane.getByRole('list', { name: 'What fits' }).getByRole('listitem');
  await test.step('with texts, what matches and what is new is said', async () => {
    await page.getByRole('link', { name: 'Datasets' }).first().click();
    await dropFiles(app, path.join(folder, 'notes.csv'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('notes');
    await dropFiles(app, path.join(folder, 'bert'));
    await expect(page.getByText('Begins with the best weights of run 1.')).toBeVisible();
    await expect(
      pane.getByText(/^Texts are cut by the tokenizer of run 1: 120 tokens, up to \d+ of a text are read\.$/),
    ).toBeVisible();
    await expect(fits).toHaveText([
      /Layer 1 .* to layer \d+ .*taken, trained on/,
      /\(Output\)\s*new, drawn by chance: 2 outputs here, 3 there/,
    ]);
  });

  await test.step('new weights read by a tokenizer of their own again', async () => {
    const weights = pane.getByRole('combobox', { name: 'Weights of' });
    await weights.selectOption({ index: 0 });
    await expect(pane.getByText(/cut by the tokenizer of run 1/)).toHaveCount(0);
    await weights.selectOption('1');
    await expect(pane.getByText(/cut by the tokenizer of run 1/)).toBeVisible();
    await screenshot(app, 'pretrained-texts');
  });

  await test.step('it is fine-tuned and predicts a text of one’s own', async () => {
    const run = await trainFromIt(app, '40', '0.005');
    expect(run.config.settings.texts?.kept).toMatch(/^[0-9a-f]{32}$/);
    await page.getByRole('tab', { name: 'Predict' }).click();
    const form = page.getByRole('region', { name: 'What if' });
    await form.getByRole('textbox', { name: 'note' }).fill('the yard engine moves the wagons');
    const chance = async (): Promise<number> => Number(await form.locator('output').textContent());
    await expect(form.locator('.answer')).toContainText('yard');
    await expect.poll(chance).toBeGreaterThan(0.6);
    await form.getByRole('textbox', { name: 'note' }).fill('it rains and pours');
    await expect.poll(chance).toBeLessThan(0.4);
  });
});

test('a language model that is dropped beside a book learns it, and writes', async ({ app }) => {
  test.setTimeout(240_000);
  const { page, home } = app;
  const folder = fs.mkdtempSync(path.join(home, 'dropped-'));
  const sentences = ['the yard engine moves the wagons', 'the points freeze in winter', 'it rains and pours'];
  const { 'score.weight': _, ...tensors } = goldenTexts.models['gpt2'].tensors;
  const config = { ...goldenTexts.models['gpt2'].config, architectures: ['GPT2LMHeadModel'], id2label: undefined };
  writeTree(folder, {
    'book.txt': Array.from({ length: 1500 }, (_, i) => sentences[i % 3]).join('.\n'),
    ...nested('gpt2', folderOf({ ...goldenTexts.models['gpt2'], config, tensors })),
  });
  await dropFiles(app, path.join(folder, 'book.txt'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('book');
  await dropFiles(app, path.join(folder, 'gpt2'));

  await test.step('what matches is said: all of it, the head too', async () => {
    await expect(page.getByText('Begins with the best weights of run 1.')).toBeVisible();
    const pane = page.getByRole('region', { name: 'Start from' });
    await expect(pane.getByText(/cut by the tokenizer of run 1/)).toBeVisible();
    await expect(pane.getByRole('list', { name: 'What fits' }).getByRole('listitem')).toHaveText([
      /Layer 1 .* to .*\(Output\)\s*taken, trained on/,
    ]);
    await expect(page.locator('tr.input')).toContainText('24 tokens');
    await screenshot(app, 'pretrained-book');
  });

  await test.step('it learns the book and writes as generate does', async () => {
    await trainFromIt(app, '40', '0.01');
    await page.getByRole('tab', { name: 'Write' }).click();
    const pane = page.getByRole('region', { name: 'Write', exact: true });
    await pane.getByRole('textbox', { name: 'Prompt' }).fill('the yard');
    await pane.getByLabel('Tokens').fill('12');
    await pane.getByLabel('Seed').fill('7');
    await page.keyboard.press('Control+Enter');
    await expect(pane.getByText(/^12 tokens, .* seed 7/)).toBeVisible();
    const { text } = await lastEvent(home, 'generate', '2', '--prompt', 'the yard', '--tokens', '12', '--seed', '7');
    const shown = pane.getByRole('article', { name: 'The text' }).locator('p.text');
    await expect(shown).toHaveText(`the yard${text as string}`, { useInnerText: true });
    expect(text as string).toContain('engine');
    await screenshot(app, 'pretrained-wrote');
  });
});
