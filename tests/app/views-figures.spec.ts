// Every figure of a run in the window is the one the history holds: a table with columns that are left out, stopped early, and
// pictures from a folder that brings its own split. And of runs that share the best value, all are named and marked.

import fs from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { networkConfig, type NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunConfig, RunRecord } from '../../engine/protocol/runs.ts';
import { bytes, duration, fixed, score, sentence, short, stopwatch } from '../../renderer/lib/format.ts';
import { encoders, noise, paint } from '../support/pictures.ts';
import { callService, chooseNext, expect, screenshot, test, type App } from './launch.ts';
import { importTable, runConfig, waitForState } from './scene.ts';

const space = (text: string): string => text.replaceAll('\u00a0', ' ');

/** Two classes that overlap, a column that says nothing and one that names each row. */
function writeRows(home: string): string {
  const lines = Array.from({ length: 300 }, (_, row) => {
    const value = ((row * 37) % 101) / 25;
    return `p-${row * 7919},${value},${((row * 53) % 97) / 24},north,${value + ((row * 29) % 31) / 31 > 2.5 ? 'high' : 'low'}`;
  });
  const file = path.join(home, 'rows.csv');
  fs.writeFileSync(file, `${['serial,width,height,site,side', ...lines].join('\n')}\n`);
  return file;
}

/** Noise of two kinds, in a folder with sub-folders for training and test. */
function writePictures(home: string): string {
  const folder = path.join(home, 'noises');
  for (const [split, count] of [
    ['train', 20],
    ['test', 5],
  ] as const) {
    for (const [kind, name] of ['dark', 'light'].entries()) {
      fs.mkdirSync(path.join(folder, split, name), { recursive: true });
      for (let i = 0; i < count; i++) {
        const picture = paint(16, 16, noise(1 + i + 100 * kind + (split === 'test' ? 1000 : 0)));
        fs.writeFileSync(path.join(folder, split, name, `${i}.png`), encoders.png(picture));
      }
    }
  }
  return folder;
}

/** Names and values of a list of facts. */
async function factsOf(list: Locator): Promise<Record<string, string>> {
  const pairs = await list
    .locator('dl > div')
    .evaluateAll((rows) =>
      rows.map((row) => [row.querySelector('dt')?.textContent, row.querySelector('dd')?.textContent]),
    );
  return Object.fromEntries(pairs) as Record<string, string>;
}

async function figureOf(page: Page, name: string): Promise<string> {
  const figure = page.locator('.figure', { has: page.getByText(name, { exact: true }) });
  return space((await figure.locator('.value').innerText()).trim());
}

/** Holds the run's page to its record. */
async function checkRunPage(app: App, run: RunRecord): Promise<void> {
  const { page } = app;
  await page.evaluate((id) => (location.hash = `#run/${id}`), run.id);
  await expect(page.getByRole('heading', { name: run.name, level: 1 })).toBeVisible();
  const [result, progress] = [run.result!, run.progress!];
  const best = run.best.val_accuracy;

  expect(await figureOf(page, 'Elapsed')).toBe(
    space(`${duration(progress.secondsElapsed)} training ${duration(result.seconds)}`),
  );
  expect(Math.abs(progress.secondsElapsed - (run.endedAt! - run.startedAt!) / 1000)).toBeLessThan(0.1);
  expect(await figureOf(page, 'Training rows a second')).toBe(fixed(result.examplesPerSecond));
  expect(await figureOf(page, 'Best accuracy')).toBe(`${score(best.value)} at ${fixed(best.epoch)}`);
  expect(await figureOf(page, 'Learning rate')).toBe(short(run.last.learning_rate));
  expect(await figureOf(page, 'Threads')).toBe(fixed(run.threads));
  await expect(page.getByRole('progressbar', { name: `Progress of ${run.name}` })).toHaveAttribute(
    'aria-valuenow',
    '100',
  );

  // The label at a line's end is also what the chart says of itself.
  const spoken = (name: string): Promise<string | null> =>
    page.getByRole('slider', { name: `${name} chart` }).getAttribute('aria-valuetext');
  expect(await spoken('Loss')).toBe(
    `Loss: train ${score(run.last.train_loss)}, validation ${score(run.last.val_loss)}`,
  );
  expect(await spoken('Accuracy')).toBe(`Accuracy: validation ${score(run.last.val_accuracy)}`);

  const results = page.getByRole('region', { name: 'Results' });
  await results.getByRole('button', { name: 'Show test scores' }).click();
  for (const [word, metric] of [
    ['Loss', 'loss'],
    ['Accuracy', 'accuracy'],
  ] as const) {
    const cells = await results
      .getByRole('row', { name: new RegExp(`^${word} `) })
      .locator('td')
      .allInnerTexts();
    const { value, epoch } = run.best[`val_${metric}`];
    const last = [run.last[`val_${metric}`], run.last[`train_${metric}`], result.metrics[`test_${metric}`]];
    expect(cells.map((cell) => cell.trim())).toEqual([score(value), fixed(epoch), ...last.map(score)]);
  }
  await expect(results.getByText(`kept weights: epoch ${fixed(result.bestEpoch)}`)).toBeVisible();
}

/** Holds the run's row in the table of runs to its record. */
async function checkRow(app: App, run: RunRecord): Promise<void> {
  const { page } = app;
  await page.evaluate(() => (location.hash = '#runs'));
  const row = page.getByRole('grid', { name: 'Runs' }).getByRole('row', { name: new RegExp(run.name) });
  await expect(row).toBeVisible();
  const text = space(await row.innerText());
  const best = run.best.val_accuracy;
  for (const figure of [
    score(best.value),
    `@${fixed(best.epoch)}`,
    score(run.last.val_accuracy),
    score(run.best.val_loss.value),
    stopwatch(run.progress!.secondsElapsed),
    fixed(run.result!.examplesPerSecond),
  ]) {
    expect(text).toContain(figure);
  }
}

async function train(app: App, name: string, config: RunConfig): Promise<RunRecord> {
  const { id } = await callService<RunRecord>(app, 'startRun', { name, config });
  return waitForState(app, id, 'completed');
}

test('the figures of runs are those of the history', async ({ app }) => {
  test.setTimeout(120_000);
  const { page } = app;
  // Wide enough for every column of the runs: light ones are left out where there is no room.
  await page.setViewportSize({ width: 1920, height: 1000 });
  const file = writeRows(app.home);
  const table = await importTable(app, file);
  const base = runConfig(table, 100);
  const early = { ...base.training, earlyStopping: { enabled: true, patience: 5, minimumDelta: 0 } };
  const training = { ...early, optimizer: { ...early.optimizer, learningRate: 0.05 } };
  const config: NetworkConfig = { ...base, training };
  const stopped = await train(app, 'early', config);

  await test.step('a table, stopped early', async () => {
    expect(stopped.result!.reason).toBe('early_stopped');
    await checkRunPage(app, stopped);
    const { epochs, bestEpoch } = stopped.result!;
    await expect(page.getByText(`Stopped early at epoch ${epochs} of 100, best ${bestEpoch}`)).toBeVisible();
    expect(stopped.data!.counts).toEqual({ train: 240, validation: 30, test: 30 });
    const settings = await factsOf(page.getByRole('region', { name: 'Settings', exact: true }));
    expect(settings['Split']).toBe('240 train / 30 validation / 30 test');
    expect(settings['Left out']).toBe('serial (identifier), site (constant)');
    expect(settings['Weight decay']).toBe('1 × learning rate a step');
    await screenshot(app, 'run-figures');
    await checkRow(app, stopped);
  });

  await test.step('its dataset: sizes that say what they are, columns left out, a split without validation', async () => {
    await page.evaluate((id) => (location.hash = `#dataset/${id}`), table.id);
    await expect(page.getByText(`${bytes(fs.statSync(file).size)} file`)).toBeVisible();
    await expect(page.getByText('Left out: serial (identifier), site (constant).')).toBeVisible();
    const settings = { ...table.settings, split: [0.9, 0, 0.1] };
    await callService(app, 'saveSettings', { dataset: table.id, settings });
    await page.reload();
    await expect(page.getByText(/No row validates: nothing shows/)).toBeVisible();
    await page.evaluate((id) => (location.hash = `#new/${id}`), table.id);
    await expect(page.getByText(/trains on 270, tests on 30/)).toBeVisible();
    await page.getByRole('button', { name: 'Small MLP' }).click();
    await page.getByRole('button', { name: 'Take one training' }).click();
    await expect(page.getByText(/trains on 270, validates on 0, tests on 30/)).toBeVisible();
    await expect(page.getByText(/No row validates/)).toBeVisible();
    await callService(app, 'saveSettings', { dataset: table.id, settings: table.settings });
  });

  await test.step('pictures in a folder that brings train and test', async () => {
    await chooseNext(app, writePictures(app.home));
    const { token } = await callService<{ token: string }>(app, 'choose', { kind: 'folder' });
    const info = await callService<DatasetInfo>(app, 'importPath', { job: 'pictures', token });
    const model = mlp([8]);
    const layers = [{ type: 'flatten' }, ...model.layers];
    const training = { ...defaultTraining(36, 'classification'), epochs: 4 };
    const common = { dataset: info.id, settings: info.settings, device: 'cpu', threads: 1 } as const;
    const config = networkConfig(common, { version: 1, layers }, training);
    const run = await train(app, 'pictures', config);
    expect(run.data!.counts).toEqual({ train: 36, validation: 4, test: 10 });
    await checkRunPage(app, run);
    const settings = await factsOf(page.getByRole('region', { name: 'Settings', exact: true }));
    expect(settings['Split']).toMatch(/^36 train \/ 4 validation \/ 10 test; train and test as the source has them/);
    await page.evaluate((id) => (location.hash = `#dataset/${id}`), info.id);
    const split = page.getByRole('region', { name: 'Split' });
    await expect(split).toContainText('about 4');
    await expect(split).toContainText('Train and test as the source has them, validation drawn from its train.');
    await screenshot(app, 'images-split');
  });

  await test.step('what a network has to beat stands beside its scores, as in the store', async () => {
    const { metrics, baseline } = stopped.result!;
    const [own, linear, constant] = [metrics, baseline!.linear!.metrics, baseline!.constant.metrics].map(
      ({ val_accuracy }) => score(val_accuracy),
    );
    await page.evaluate((id) => (location.hash = `#run/${id}`), stopped.id);
    await expect(page.getByLabel('What it has to beat')).toHaveText(
      `Validation accuracy ${own}, a linear model gets ${linear}, always guessing “${baseline!.constant.answer}” ${constant}.`,
    );
    await screenshot(app, 'run-baseline');
  });

  await test.step('a linear model from the New run page: scores without curves', async () => {
    await page.evaluate((id) => (location.hash = `#new/${id}`), table.id);
    await page.getByRole('button', { name: /^Linear model/ }).click();
    const form = page.getByRole('region', { name: 'Settings of the linear model' });
    await expect(form).toBeVisible();
    await expect(form.getByLabel('Seed')).toHaveValue('1');
    await page.getByRole('button', { name: 'Take one training' }).click();
    await screenshot(app, 'new-linear');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/#run\/\d+$/);
    const ended = await waitForState(app, Number(/\d+$/.exec(page.url())![0]), 'completed');
    expect(ended.config.learner).toBe('linear');
    const { metrics, baseline, remark } = ended.result!;
    const [own, constant] = [metrics, baseline!.constant.metrics].map(({ val_accuracy }) => score(val_accuracy));
    await expect(page.getByLabel('What it has to beat')).toHaveText(
      `Validation accuracy ${own}, always guessing “${baseline!.constant.answer}” gets ${constant}.`,
    );
    await expect(page.getByText(sentence(remark!), { exact: true })).toBeVisible();
    await expect(page.locator('canvas')).toHaveCount(0);
    await screenshot(app, 'run-linear');
  });

  await test.step('a cross-validation: its folds on its page, every row out of fold, one line in the list', async () => {
    await page.evaluate((id) => (location.hash = `#new/${id}`), table.id);
    await page.getByRole('button', { name: /^Linear model/ }).click();
    // Few rows: folds are what it begins with, and one press takes them out and back in.
    await expect(page.getByLabel('Cross-validation')).toHaveValue('5');
    await expect(page.getByText(/^5 folds test all \d+ rows/)).toBeVisible();
    await expect(page.getByRole('region', { name: 'Outlook' })).toContainText('5 trainings, one a fold: 5 times');
    await screenshot(app, 'new-usual-folds');
    await page.getByRole('button', { name: 'Take one training' }).click();
    const few = page.getByText(
      /^About \d+ rows test the model: an accuracy of so few is uncertain by up to ± \d+ points/,
    );
    await expect(few).toBeVisible();
    await screenshot(app, 'new-few-rows');
    await page.getByRole('button', { name: 'Take 5 folds' }).click();
    await expect(page.getByLabel('Cross-validation')).toHaveValue('5');
    await expect(few).toHaveCount(0);
    await page.getByLabel('Cross-validation').selectOption({ label: '3 folds' });
    await screenshot(app, 'new-folds');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/#run\/\d+$/);
    const ended = await waitForState(app, Number(/\d+$/.exec(page.url())![0]), 'completed');
    const { mean, deviation } = ended.result!.folds!;
    expect(await figureOf(page, 'Accuracy')).toBe(`${score(mean.test_accuracy)} ± ${score(deviation.test_accuracy)}`);
    const folds = page.getByRole('region', { name: 'Table of folds' });
    await expect(folds.getByRole('link')).toHaveCount(3);
    await expect(folds.getByRole('row', { name: /^Mean/ })).toContainText(score(mean.test_accuracy));
    await expect(page.getByRole('img', { name: /^Accuracy: .* ± .*; by fold/ })).toBeVisible();
    await expect(page.getByRole('tab')).toHaveText(['Overview', 'Evaluation', 'Explain', 'Predict', 'Files']);
    await screenshot(app, 'run-folds');
    await page.getByRole('tab', { name: 'Evaluation' }).click();
    await expect(page.getByText('each predicted by the fold that did not learn from it')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Scores' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Where errors gather' })).toBeVisible();
    await screenshot(app, 'run-folds-evaluation');
    // A fold goes with its cross-validation: its page does not offer what would be refused.
    await page.getByRole('tab', { name: 'Overview' }).click();
    await folds.getByRole('link').first().click();
    await page.getByRole('button', { name: /^More for .*fold 1 of 3$/ }).click();
    await expect(page.getByRole('menuitem', { name: /^Move to trash/ })).toHaveAttribute('aria-disabled', 'true');
    await page.keyboard.press('Escape');
    await page.evaluate(() => (location.hash = '#runs'));
    await expect(page.getByText('Linear model, 3 folds')).toBeVisible();
    await expect(page.getByText(/, fold 1 of 3/)).toHaveCount(0);
    await page.getByRole('searchbox').first().fill('fold 1 of 3');
    await expect(page.getByText(/, fold 1 of 3/).first()).toBeVisible();
    await page.getByRole('checkbox', { name: /fold 1 of 3/ }).check();
    await expect(page.getByRole('button', { name: /^Move to trash/ })).toBeDisabled();
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').first().fill('');
  });

  await test.step('compare: all that share the best are named and marked', async () => {
    const one = { ...base, training: { ...base.training, epochs: 1 } };
    const twins = [await train(app, 'twin one', one), await train(app, 'twin two', one)];
    expect(twins[0].best.val_accuracy).toEqual(twins[1].best.val_accuracy);
    const runs = [stopped, ...twins].sort((a, b) => a.best.val_accuracy.value - b.best.val_accuracy.value);
    const shared = runs.filter(({ best }) => best.val_accuracy.value === runs[2].best.val_accuracy.value);
    await page.evaluate((ids) => (location.hash = `#compare/${ids}`), runs.map(({ id }) => id).join());
    const reading = page.getByLabel('Reading');
    const row = page.getByRole('row', { name: /^Best validation accuracy/ });
    await expect(row.getByText('best', { exact: true })).toHaveCount(shared.length === 3 ? 0 : shared.length);
    const letters = runs.flatMap((run, index) => (shared.includes(run) ? ['ABC'[index]] : []));
    await expect(reading).toContainText(
      letters.length === 1 ? `${letters[0]} has the best accuracy` : `${letters.join(' and ')} share the best accuracy`,
    );
    const elapsed = page.getByRole('row', { name: /^Elapsed, without pauses/ }).locator('td .value');
    expect((await elapsed.allInnerTexts()).map(space)).toEqual(
      runs.map(({ progress }) => space(duration(progress!.secondsElapsed))),
    );
    // One of the three changes: it alone is asked for again.
    await page.evaluate(() => {
      const asked: number[] = [];
      Object.assign(globalThis, { askedRuns: asked });
      const send = MessagePort.prototype.postMessage as (this: MessagePort, ...sent: unknown[]) => void;
      MessagePort.prototype.postMessage = function (this: MessagePort, ...sent: unknown[]) {
        const { name, request } = sent[0] as { name?: string; request?: { run: number } };
        if (name === 'run' && request) asked.push(request.run);
        return send.apply(this, sent);
      };
    });
    const changed = runs[1].id;
    await callService(app, 'updateRun', { run: changed, patch: { name: 'renamed twin' } });
    await expect(page.getByText('renamed twin').first()).toBeVisible();
    const asked = await page.evaluate(() => (globalThis as unknown as { askedRuns: number[] }).askedRuns);
    expect(asked).toEqual([changed]);
    await screenshot(app, 'compare-shared');
  });
});
