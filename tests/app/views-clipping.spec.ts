// No text is cut: every view with long names and large numbers, at three widths and a zoom, searched for text that a person
// cannot read whole (see clipping.ts). One app and one set of data for all of it.

import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { encoders, noise, paint } from '../support/pictures.ts';
import { clippedTexts } from './clipping.ts';
import { callService, chooseNext, expect, screenshots, test, type App } from './launch.ts';
import { importTable, trainingHalted, waitForEpoch, waitForState } from './scene.ts';

/** Width, height and zoom: at 1.25 × the larger ones have the widths of those before them. */
const windows = [
  [1100, 720, 1],
  [1100, 720, 1.25],
  [1440, 900, 1],
  [1920, 1080, 1],
] as const;

const words = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];

/** Long column names, a column of every type, large and long numbers, gaps; the class follows from one column. */
function writeWine(folder: string): string {
  let state = 7;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const regions = ['Bourgogne-Franche-Comté', 'Nouvelle-Aquitaine', 'Ribera del Duero', 'Friuli-Venezia Giulia'];
  const columns = [
    'identifier_of_the_bottle',
    'fixed_acidity_grams_per_litre',
    'total_sulfur_dioxide_milligrams',
    'density_at_twenty_degrees_celsius',
    'country_and_region_of_origin',
    'harvest_date_of_the_vineyard_plot',
    'is_certified_organic_since_2010',
    'notes_written_by_the_sommelier',
    'volume_of_the_bottle_in_millilitres',
    'quality_class_of_the_blind_tasting',
  ];
  const lines = Array.from({ length: 600 }, (_, i) => {
    const acidity = -8 + 16 * random();
    const missing = i % 9 === 0;
    return [
      `bottle-${100_000 + i * 37}`,
      acidity.toFixed(5),
      missing ? '' : Math.round(random() * 2_362_634),
      (0.98 + random() / 50).toFixed(7),
      regions[Math.floor(random() * regions.length)],
      `20${10 + (i % 14)}-0${1 + (i % 9)}-1${i % 10}`,
      i % 3 === 0 ? 'yes' : 'no',
      `"Blackcurrant, cedar and wet slate, a long finish of liquorice, bottle ${i} of the flight"`,
      750,
      acidity < -2.5 ? 'ordinary table wine' : acidity < 2.5 ? 'good' : 'outstanding',
    ].join(',');
  });
  const file = path.join(folder, 'wine-messy-medium-2024.csv');
  fs.writeFileSync(file, [columns.join(','), ...lines].join('\n') + '\n');
  return file;
}

function writePictures(folder: string): string {
  const at = path.join(folder, 'photographs-of-animals-and-vehicles-2024');
  words.forEach((word, k) => {
    fs.mkdirSync(path.join(at, word), { recursive: true });
    for (let i = 0; i < 20; i++) {
      const file = path.join(at, word, `${word}-photographed-from-the-side-${i}.png`);
      fs.writeFileSync(file, encoders.png(paint(12, 12, noise(k * 100 + (i % 12), 3))));
    }
  });
  return at;
}

/** Twenty classes in a row of points: as many as a matrix is shown whole of. */
function writeLetters(folder: string): string {
  const names = Array.from({ length: 20 }, (_, k) => `letter-${'abcdefghijklmnopqrst'[k]}`);
  const lines = Array.from({ length: 1000 }, (_, i) => `${i},${(i * 7) % 13},${names[Math.floor(i / 50)]}`);
  const file = path.join(folder, 'letters.csv');
  fs.writeFileSync(file, ['position,remainder,letter', ...lines].join('\n') + '\n');
  return file;
}

async function importPictures(app: App, folder: string): Promise<DatasetInfo> {
  await chooseNext(app, folder);
  const { token } = await callService<{ token: string }>(app, 'choose', { kind: 'folder' });
  return callService<DatasetInfo>(app, 'importPath', { job: `scene-${token}`, token });
}

interface Plan {
  readonly name: string;
  readonly dataset: DatasetInfo;
  readonly model: ModelSpec;
  readonly training: Partial<TrainingSpec>;
}

async function start(app: App, { name, dataset, model, training }: Plan): Promise<number> {
  const usual = defaultTraining(dataset.rows, 'classification');
  const run = await callService<RunRecord>(app, 'startRun', {
    name,
    config: networkConfig({ dataset: dataset.id, settings: dataset.settings, device: 'cpu', threads: 1 }, model, {
      ...usual,
      earlyStopping: { ...usual.earlyStopping, enabled: false },
      ...training,
    }),
  });
  return run.id;
}

interface View {
  readonly name: string;
  readonly address: string;
  readonly ready: (page: Page) => Promise<void>;
  /** What a person does then, such as opening the palette. */
  readonly act?: (page: Page) => Promise<void>;
  /** Shows the run that is training, or asks something of it: it goes on meanwhile. */
  readonly live?: true;
}

async function setScene(
  app: App,
): Promise<{ readonly views: readonly View[]; readonly tabs: readonly View[]; readonly letters: number }> {
  const imported = await importTable(app, writeWine(app.home));
  const wine = await callService<DatasetInfo>(app, 'saveSettings', {
    dataset: imported.id,
    settings: { ...imported.settings, target: 'quality_class_of_the_blind_tasting' },
  });
  const pictures = await importPictures(app, writePictures(app.home));
  const letters = await importTable(app, writeLetters(app.home));
  const large: ModelSpec = mlp([1024, 1024, 1024], { preset: 'large' });
  const convolution: ModelSpec = {
    version: 1,
    preset: 'small-cnn',
    layers: [
      { type: 'conv2d', filters: 8, kernel: 3, stride: 1, padding: 1 },
      { type: 'batch_norm' },
      { type: 'flatten' },
      { type: 'output' },
    ],
  };
  const plans: readonly Plan[] = [
    { name: 'wine of 2024, large network, first attempt', dataset: wine, model: large, training: { epochs: 1 } },
    {
      name: 'wine of 2024, two layers with weight decay',
      dataset: wine,
      model: mlp([64, 32]),
      training: { epochs: 40 },
    },
    {
      name: 'photographs, small convolutional network',
      dataset: pictures,
      model: convolution,
      training: { epochs: 3 },
    },
    { name: 'twenty letters', dataset: letters, model: mlp([16]), training: { epochs: 2 } },
  ];
  const runs: number[] = [];
  for (const plan of plans) {
    const id = await start(app, plan);
    await waitForState(app, id, 'completed');
    runs.push(id);
  }
  const patch = { starred: true, tags: ['baseline', 'weight-decay'], notes: 'Better than the first; see the losses.' };
  await callService(app, 'updateRun', { run: runs[1], patch });
  const endless = { epochs: 1_000_000 };
  const live = {
    name: 'wine of 2024, trains for a very long time',
    dataset: wine,
    model: mlp([256, 256]),
    training: endless,
  };
  const running = await start(app, live);
  await waitForEpoch(app, running, 1);
  await trainingHalted(app, true);

  const heading = (name: string | RegExp) => async (page: Page) =>
    expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  const matrix = async (page: Page): Promise<void> =>
    expect(page.getByRole('table', { name: 'Confusion matrix' })).toBeVisible();
  const summary = async (page: Page): Promise<void> => expect(page.getByRole('row', { name: /^Total/ })).toBeVisible();
  const rows = async (page: Page): Promise<void> =>
    expect(page.getByRole('link', { name: plans[1].name })).toBeVisible();
  const testScores = async (page: Page): Promise<void> => {
    const button = page.getByRole('button', { name: 'Show test scores' });
    await button.click();
    await expect(button).toBeHidden();
  };
  const testColumn = async (page: Page): Promise<void> => {
    await testScores(page);
    await expect(page.getByRole('columnheader', { name: 'Test' })).toBeInViewport();
    const table = page.getByRole('region', { name: 'Table of results' });
    expect(await table.evaluate((pane) => pane.scrollWidth - pane.clientWidth)).toBe(0);
  };
  const views: readonly View[] = [
    { name: 'welcome', address: '#welcome', ready: heading('Train a model on this machine') },
    { name: 'datasets', address: '#datasets', ready: heading('Datasets') },
    {
      name: 'table',
      address: `#dataset/${wine.id}`,
      ready: async (page) => expect(page.getByText(/Blackcurrant/).first()).toBeVisible(),
    },
    {
      name: 'rows',
      address: `#dataset/${wine.id}/rows`,
      ready: async (page) => expect(page.getByText(/Blackcurrant/).first()).toBeVisible(),
    },
    {
      name: 'pictures',
      address: `#dataset/${pictures.id}`,
      ready: async (page) => expect(page.getByRole('option').first()).toHaveAttribute('aria-label', /airplane/),
    },
    { name: 'new-run', address: `#new/${wine.id}?from=${runs[0]}`, ready: summary },
    {
      name: 'new-run-usual',
      address: `#new/${wine.id}`,
      ready: async (page) => expect(page.getByRole('region', { name: 'Settings of the best of all' })).toBeVisible(),
    },
    {
      name: 'new-run-search',
      address: `#new/${wine.id}?search`,
      ready: async (page) => page.getByRole('button', { name: /^Search One learner/ }).click(),
      act: async (page) => {
        const space = page.getByRole('textbox', { name: 'Space' });
        if (!(await space.isVisible())) await page.getByRole('button', { name: 'Advanced' }).click();
        // Emptied, it is the ready-made one again.
        await space.fill('{');
        await space.fill('');
        await expect(space).toHaveAttribute('placeholder', 'ready-made');
        // Of all spaces the one with most settings, and with choices.
        await page.getByRole('combobox', { name: 'Of', exact: true }).selectOption('network');
      },
    },
    {
      name: 'new-run-wrong-field',
      address: `#new/${wine.id}?wrong`,
      ready: async (page) => {
        await page.getByRole('button', { name: 'Small MLP' }).click();
        await summary(page);
      },
      act: async (page) => {
        const units = page.getByRole('textbox', { name: /^Units of Dense/ }).first();
        await units.fill('0');
        await units.press('Tab');
        await expect(page.getByText(/a whole number from 1 to/i)).toBeVisible();
      },
    },
    { name: 'new-run-pictures', address: `#new/${pictures.id}`, ready: summary },
    { name: 'run-live', address: `#run/${running}`, ready: matrix, live: true },
    { name: 'run-large', address: `#run/${runs[0]}`, ready: matrix, act: testColumn },
    { name: 'run', address: `#run/${runs[1]}`, ready: matrix, act: testColumn },
    { name: 'run-pictures', address: `#run/${runs[2]}`, ready: matrix, act: testColumn },
    {
      name: 'run-cell',
      address: `#run/${runs[2]}`,
      ready: matrix,
      act: async (page) => {
        await page.getByRole('button', { name: 'All mistakes' }).click();
        await expect(
          page
            .getByRole('listbox', { name: /^Pictures/ })
            .getByRole('option')
            .first(),
        ).toBeVisible();
      },
    },
    {
      name: 'runs',
      address: '#runs',
      live: true,
      ready: rows,
      act: async (page) => {
        await page.getByRole('row', { name: plans[1].name }).getByText('Completed').click();
        await page
          .getByRole('row', { name: plans[0].name })
          .getByText('Completed')
          .click({ modifiers: ['Control'] });
        await expect(page.getByText('2 selected')).toBeVisible();
      },
    },
    {
      name: 'compare',
      address: `#compare/${[...runs.slice(0, 3), running].join()}`,
      live: true,
      ready: async (page) => expect(page.getByRole('region', { name: /Table of settings/ })).toBeVisible(),
      act: testScores,
    },
    { name: 'compare-empty', address: '#compare', ready: heading('Compare') },
    { name: 'hardware', address: '#hardware', ready: heading('Hardware') },
    { name: 'settings', address: '#settings', ready: heading('Settings') },
    { name: 'help', address: '#help', ready: heading('Help') },
    {
      name: 'about',
      address: '#about',
      ready: (page) => expect(page.getByText('Kept on this computer')).toBeVisible(),
    },
    {
      name: 'palette',
      address: '#runs',
      ready: rows,
      act: async (page) => {
        await page.keyboard.press('Control+k');
        await expect(page.getByRole('combobox', { name: 'Search or run a command' })).toBeFocused();
      },
    },
    {
      name: 'shortcuts',
      address: '#help',
      ready: heading('Help'),
      act: async (page) => {
        const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
        await expect(async () => {
          await page.keyboard.press('?');
          await expect(sheet).toBeVisible({ timeout: 1000 });
        }).toPass();
      },
    },
  ];
  const region = (name: string) => async (page: Page) =>
    expect(page.getByRole('region', { name, exact: true }).first()).toBeVisible({ timeout: 30_000 });
  const tabs: readonly View[] = [
    { name: 'evaluation', address: `#run/${runs[1]}/evaluation`, ready: region('Table of worst rows') },
    {
      name: 'evaluation-pictures',
      address: `#run/${runs[2]}/evaluation`,
      ready: async (page) => expect(page.getByRole('option').first()).toBeVisible({ timeout: 30_000 }),
    },
    {
      name: 'explain',
      address: `#run/${runs[1]}/explain`,
      ready: async (page) => {
        await page.getByRole('button', { name: 'Explain', exact: true }).click();
        await expect(page.getByRole('heading', { name: /^Why row \d+$/ })).toBeVisible({ timeout: 30_000 });
      },
    },
    { name: 'predict', address: `#run/${runs[1]}/predict`, ready: async () => undefined },
    { name: 'files', address: `#run/${runs[1]}/files`, ready: region('Exports') },
    {
      name: 'step',
      address: `#run/${runs[1]}/step`,
      // A run that trains gives way while a step is measured.
      live: true,
      ready: async (page) => {
        await page.getByRole('button', { name: 'Measure a step' }).click();
        await expect(page.getByRole('slider', { name: 'Parts of the step' })).toBeVisible({ timeout: 60_000 });
      },
    },
  ];
  return { views, tabs, letters: runs[3] };
}

async function resize(
  { electron, page }: App,
  [width, height]: readonly [number, number],
  zoom: number,
): Promise<void> {
  await electron.evaluate(
    ({ BrowserWindow }, { width, height, zoom }) => {
      const [window] = BrowserWindow.getAllWindows().filter((candidate) => candidate.isVisible());
      window.setContentSize(width, height);
      window.webContents.setZoomFactor(zoom);
    },
    { width, height, zoom },
  );
  await page.waitForFunction((wanted) => Math.abs(innerWidth - wanted) < 3, width / zoom);
}

/** Pictures of all views at all sizes, for a person to look at. By the window itself: Playwright knows nothing of its zoom. */
async function picture({ electron, page }: App, name: string): Promise<void> {
  if (process.env['TRAINYARD_PICTURES'] !== '1') return;
  const window = await electron.browserWindow(page);
  const png = await window.evaluate(async (window) =>
    (await window.webContents.capturePage()).toPNG().toString('base64'),
  );
  fs.mkdirSync(screenshots, { recursive: true });
  fs.writeFileSync(path.join(screenshots, `${name}.png`), Buffer.from(png, 'base64'));
}

test('no text is cut in any view, at three widths and a zoom', async ({ app }) => {
  test.setTimeout(240_000);
  const { page } = app;
  const { views, tabs, letters } = await setScene(app);
  const only = process.env['TRAINYARD_VIEWS']?.split(',');
  for (const [width, height, zoom] of windows) {
    // So that each view is opened anew at each size, though it were the only one.
    await page.evaluate(() => (location.hash = '#help'));
    await expect(page.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible();
    await resize(app, [width, height], zoom);
    for (const { name, address, ready, act, live } of views) {
      if (only && !only.includes(name)) continue;
      if (live) await trainingHalted(app, false);
      await page.evaluate((hash) => {
        location.hash = hash;
      }, address);
      await ready(page);
      await act?.(page);
      expect.soft(await clippedTexts(page), `${name}, ${width} wide, ${zoom} ×`).toEqual([]);
      await picture(app, `whole-${name}-${width}-${zoom}x`);
      if (name === 'run-pictures') expect.soft(await hiddenOfMatrix(page), `ten classes, ${width}`).toEqual([0, 0]);
      if (act) await page.keyboard.press('Escape');
      if (live) await trainingHalted(app, true);
    }
  }

  await test.step('the tabs of a run that has ended, each opened once', async () => {
    for (const { name, address, ready, live } of tabs) {
      if (only && !only.includes(name)) continue;
      if (live) await trainingHalted(app, false);
      await page.evaluate((hash) => (location.hash = hash), address);
      await ready(page);
      for (const [width, height, zoom] of windows) {
        await resize(app, [width, height], zoom);
        expect.soft(await clippedTexts(page), `${name}, ${width} wide, ${zoom} ×`).toEqual([]);
        await picture(app, `whole-${name}-${width}-${zoom}x`);
        if (name === 'evaluation-pictures' && zoom === 1)
          expect.soft(await hiddenOfMatrix(page), `ten classes, ${width}`).toEqual([0, 0]);
      }
      if (live) await trainingHalted(app, true);
    }
  });

  await test.step('a matrix of twenty classes: whole in the usual window, under its headers in a small one', async () => {
    await resize(app, [1440, 900], 1);
    await page.evaluate((hash) => (location.hash = hash), `#run/${letters}`);
    const matrix = page.getByRole('table', { name: 'Confusion matrix' });
    await expect(matrix.getByRole('button')).toHaveCount(400);
    await matrix.scrollIntoViewIfNeeded();
    await expect(matrix).toBeInViewport({ ratio: 0.99 });
    expect(await hiddenOfMatrix(page)).toEqual([0, 0]);
    expect(await clippedTexts(page)).toEqual([]);
    await picture(app, 'whole-run-letters-1440-1x');

    await resize(app, [1100, 720], 1.25);
    const pane = page.getByRole('region', { name: 'Confusion matrix' });
    const scroller = matrix.locator('..');
    await scroller.evaluate((element) => element.scrollTo(9999, 9999));
    await scroller.scrollIntoViewIfNeeded();
    expect((await hiddenOfMatrix(page))[1]).toBeGreaterThan(0);
    await expect(pane.getByRole('columnheader', { name: 'letter-t' })).toBeInViewport();
    await expect(pane.getByRole('rowheader', { name: 'letter-t' })).toBeInViewport();
    await expect(pane.getByRole('button', { name: /^letter-t: / })).toBeInViewport();
    await picture(app, 'whole-run-letters-1100-1.25x');
  });
});

/** Pixels of the confusion matrix that its pane does not show: across and down. */
async function hiddenOfMatrix(page: Page): Promise<readonly number[]> {
  return page
    .getByRole('table', { name: 'Confusion matrix' })
    .locator('..')
    .evaluate((pane) => [pane.scrollWidth - pane.clientWidth, pane.scrollHeight - pane.clientHeight]);
}

test.afterEach(async ({ app }) => {
  await trainingHalted(app, false);
  const { runs } = await callService<{ runs: readonly RunRecord[] }>(app, 'runs', { states: ['running', 'queued'] });
  for (const { id } of runs) {
    await callService(app, 'stopRun', { run: id });
    await waitForState(app, id, 'stopped');
  }
});
