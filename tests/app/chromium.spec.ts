// The window and the GPU page in the newest Chromium at hand (tests/app/bridge), far newer than the Electron that development
// uses: the engine of the official Electron. The GPU is SwiftShader.

import fs from 'node:fs';
import path from 'node:path';
import { expect, test as base, type Locator, type Page } from '@playwright/test';
import { networkConfig, type NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { InputSpec, LayerSpec } from '../../engine/model/spec.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { encoders, noise, paint } from '../support/pictures.ts';
import { openBridge, type Bridge } from './bridge/bridge.ts';
import { screenshots } from './launch.ts';
import { runConfig, writeTable } from './scene.ts';

/** What scripts/chromium.mjs found. */
const executable = process.env['TRAINYARD_CHROMIUM'] ?? '';

const test = base.extend<{ bridge: Bridge }>({
  bridge: async ({ browserName: _ }, use, info) => {
    const bridge = await openBridge(executable);
    await use(bridge);
    if (info.status !== info.expectedStatus) {
      await bridge.page.screenshot({ path: path.join(screenshots, 'failed-chromium.png') }).catch(() => undefined);
    }
    await bridge.close();
  },
});
test.skip(executable === '', 'no Chromium of version 120 or newer: apt-get install --no-install-recommends chromium');

test('the window in the newest Chromium: import, train, look back, compare', async ({ bridge }) => {
  const { page } = bridge;
  await test.step('a table, through the open dialog', async () => {
    await expect(page.getByRole('heading', { name: 'Train a model on this machine' })).toBeVisible();
    bridge.openNext(writeTable(bridge.home, 600));
    await page.getByRole('button', { name: 'Open file…' }).click();
    await expect(page.getByRole('heading', { name: 'points', level: 1 })).toBeVisible();
    const rows = page.getByRole('table', { name: /Rows of points/ }).getByRole('row');
    await expect(rows.nth(3)).toBeVisible();
    await expect(page.getByRole('combobox', { name: 'Target column' })).toHaveValue('side');
  });

  await test.step('two runs on the CPU', async () => {
    await page.getByRole('button', { name: 'New run with this data' }).click();
    await page.getByRole('button', { name: 'Small MLP' }).click();
    await page.getByRole('button', { name: 'Take one training' }).click();
    await train(page, 'first try');
    await page.getByRole('button', { name: 'More for first try' }).click();
    await page.getByRole('menuitem', { name: 'Run again with changes' }).click();
    await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
    await page.getByLabel('Learning rate', { exact: true }).fill('0.01');
    await train(page, 'second try');
  });

  await test.step('the runs, then both compared', async () => {
    await page.getByRole('link', { name: 'Runs' }).click();
    const grid = page.getByRole('grid', { name: 'Runs' });
    await grid.getByRole('row', { name: /first try/ }).click();
    await grid.getByRole('row', { name: /second try/ }).click({ modifiers: ['Control'] });
    await page.getByRole('button', { name: 'Compare 2' }).click();
    const table = page.getByRole('region', { name: 'Table of settings and results' });
    await expect(table.getByRole('row', { name: /Learning rate/ })).toContainText('0.01');
    await expect(chart(page, 'Validation loss')).toHaveAttribute('aria-valuetext', /A .*B /);
  });

  await test.step('a folder of pictures', async () => {
    bridge.openNext(writePictures(bridge.home));
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.keyboard.press('Control+Shift+O');
    await expect(page.getByRole('heading', { name: 'patterns', level: 1 })).toBeVisible();
    const gallery = page.getByRole('listbox', { name: 'Pictures: All pictures' });
    await expect(gallery.getByRole('option', { name: /columns/ }).first()).toBeVisible();
  });

  await test.step('everywhere else', async () => {
    for (const view of ['Hardware', 'Help', 'Settings']) {
      await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: view, exact: true }).click();
      await expect(page.getByRole('heading', { level: 1, name: view })).toBeVisible();
    }
    await page.reload();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  });
  expect(bridge.problems).toEqual([]);
});

test('the GPU page in the newest Chromium trains an MLP and a CNN as the CPU does', async ({ bridge }) => {
  const table = await importFrom(bridge, 'file', writeTable(bridge.home, 400));
  await trainsAlike(bridge, { ...runConfig(table, 5), model: mlp([32, 16]) });

  const pictures = await importFrom(bridge, 'folder', writePictures(bridge.home));
  const { input } = await bridge.service.datasetShape({ dataset: pictures.id, settings: pictures.settings });
  await trainsAlike(bridge, pictureConfig(pictures, input));

  const { page } = bridge;
  await page.getByRole('link', { name: 'Runs' }).click();
  const newest = page
    .getByRole('grid', { name: 'Runs' })
    .getByRole('row', { name: /patterns/ })
    .first();
  await newest.getByRole('link').first().click();
  await expect(page.getByRole('table', { name: 'Confusion matrix' }).getByRole('button')).toHaveCount(9);
  expect(bridge.problems).toEqual([]);
});

/** Starts what the New run page has drawn up and waits for its figures. */
async function train(page: Page, name: string): Promise<void> {
  await page.getByLabel('Epochs', { exact: true }).fill('5');
  await page.getByRole('textbox', { name: 'Name of the run' }).fill(name);
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await expect(page.getByText('Completed').first()).toBeVisible();
  await expect(chart(page, 'Loss')).toHaveAttribute('aria-valuetext', /train .*validation/);
  await expect(page.getByRole('region', { name: 'Results' }).getByRole('row', { name: /Accuracy/ })).toContainText(
    /\d/,
  );
}

function chart(page: Page, name: string): Locator {
  return page.getByRole('slider', { name: `${name} chart` });
}

async function importFrom(
  { service, openNext }: Bridge,
  kind: 'file' | 'folder',
  chosen: string,
): Promise<DatasetInfo> {
  openNext(chosen);
  const { token } = (await service.choose({ kind }))!;
  return service.importPath({ job: `scene-${token}`, token });
}

const patterns = ['columns', 'rows', 'stripes'] as const;

/** A folder with a sub-folder a class: noise with a pattern over it. */
function writePictures(home: string): string {
  const folder = path.join(home, 'patterns');
  patterns.forEach((pattern, k) => {
    fs.mkdirSync(path.join(folder, pattern), { recursive: true });
    for (let i = 0; i < 30; i++) {
      const grain = noise(1000 * k + i);
      const picture = paint(16, 16, (x, y) => {
        const [red, green, blue] = grain(x, y);
        const marked = [x % 4 < 2, y % 4 < 2, (x + y) % 4 < 2][k];
        return marked ? [128 + red / 2, green, blue] : [red / 2, green, blue];
      });
      fs.writeFileSync(path.join(folder, pattern, `${i}.png`), encoders.png(picture));
    }
  });
  return folder;
}

/** A small CNN with batch norm, and the settings pictures have by default. */
function pictureConfig(dataset: DatasetInfo, input: InputSpec): NetworkConfig {
  const convolution = (filters: number): readonly LayerSpec[] => [
    { type: 'conv2d', filters, bias: false },
    { type: 'batch_norm' },
    { type: 'activation', activation: 'relu' },
  ];
  const pool: LayerSpec = { type: 'max_pool', size: 2, stride: 2 };
  const layers = [...convolution(8), pool, ...convolution(16), { type: 'global_average_pool' }, { type: 'output' }];
  const training = { ...defaultTraining(dataset.rows, 'classification', input), epochs: 3, batch: 16 };
  const { dataset: id, settings, device, threads } = runConfig(dataset, 3);
  return networkConfig({ dataset: id, settings, device, threads }, { version: 1, layers }, training);
}

/** Trains on the CPU and on the GPU page: losses agree as tests/golden/webgpu.test.ts demands. */
async function trainsAlike(bridge: Bridge, config: NetworkConfig): Promise<void> {
  const wanted = await losses(bridge, { ...config, device: 'cpu' });
  const got = await losses(bridge, { ...config, device: 'gpu' });
  expect(wanted).toHaveLength(2 * config.training.epochs);
  expect(got).toHaveLength(wanted.length);
  got.forEach((loss, i) => {
    const difference = Math.abs(loss - wanted[i]) / Math.abs(wanted[i]);
    expect(difference, `loss ${i}: ${loss} on the GPU, ${wanted[i]} on the CPU`).toBeLessThanOrEqual(1e-4);
  });
}

/** Training and validation loss of every epoch. */
async function losses({ service }: Bridge, config: NetworkConfig): Promise<readonly number[]> {
  const { id: run } = await service.startRun({ config });
  const state = async (): Promise<string> => (await service.run({ run })).state;
  await expect.poll(state, { timeout: 60_000 }).toMatch(/completed|failed/);
  const { error, device } = await service.run({ run });
  expect({ error, device }).toEqual({ error: null, device: config.device });
  return (await service.metrics({ run, series: ['train_loss', 'val_loss'] })).map(({ value }) => value);
}
