// The pictures of the README, taken in the real window on the app's own samples: findings of a messy table, a network that trains, three
// runs compared, what a training needs. Seeds are fixed, so that the same commit on the same machine trains the same curves.
//
//   npm run pictures [-- --only data,run,compare,hardware] [--out FOLDER]      (default: docs/pictures)
//
// Not part of `npm test`: it takes some minutes. Look at each one before it is committed.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pngQuantizeSync } from '@napi-rs/image';
import type { Page } from '@playwright/test';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp, presetNamed, specOf } from '../../engine/model/presets.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import type { DatasetShape } from '../../engine/protocol/app.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { noAugmentation } from '../../engine/settings/augmentation.ts';
import { callService, drawn, launch, root, screenshots, type App } from './launch.ts';
import { waitForEpoch, waitForState } from './scene.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, out: { type: 'string' } } });
const folder = path.resolve(values.out ?? path.join(root, 'docs', 'pictures'));
/** Bytes of one: a page of four is read over slow lines too. */
const most = 120_000;
const size = { width: 1440, height: 900 };

async function take({ page }: App, name: string, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  // Nothing hovered, focused or told in passing.
  await page.mouse.move(size.width / 3, 20);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.waitForFunction(() => document.querySelector('.toasts')?.childElementCount === 0);
  await drawn(page);
  const picture = pngQuantizeSync(await page.screenshot(), { minQuality: 70, maxQuality: 100, speed: 1 });
  if (picture.length > most) throw new Error(`${name}.png has ${picture.length} bytes, more than ${most}.`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}.png`), picture);
  console.log(`${name}.png: ${picture.length} bytes`);
}

const goTo = (page: Page, address: string): Promise<void> =>
  page.evaluate((hash) => void (location.hash = hash), address);

/** Brings in a sample as its card does. */
async function sample({ page }: App, title: string): Promise<DatasetInfo['id']> {
  await goTo(page, '#welcome');
  await page.getByRole('button', { name: `Look at it: ${title}` }).click();
  await page.waitForURL(/#dataset\//);
  return page.url().split('#dataset/')[1];
}

interface Plan {
  readonly name: string;
  readonly epochs: number;
  readonly model?: ModelSpec;
  readonly preset?: string;
  /** Pictures are changed while it trains. */
  readonly changed?: boolean;
}

async function start(app: App, dataset: string, plan: Plan): Promise<RunRecord> {
  const info = (await callService<DatasetInfo[]>(app, 'datasets')).find(({ id }) => id === dataset);
  if (!info) throw new Error(`There is no dataset ${dataset}.`);
  const settings = { ...info.settings, target: info.target ?? undefined, task: info.task ?? undefined };
  const { input, counts } = await callService<DatasetShape>(app, 'datasetShape', { dataset, settings });
  const preset = presetNamed(plan.preset ?? '');
  const model = plan.model ?? (preset ? specOf(preset, input) : mlp([64, 32]));
  const training = defaultTraining(counts.train, 'classification', input, model);
  const { augmentation = noAugmentation, earlyStopping } = training;
  const config = networkConfig({ dataset, settings, device: 'cpu', threads: 0 }, model, {
    ...training,
    epochs: plan.epochs,
    earlyStopping: { ...earlyStopping, enabled: false },
    augmentation: plan.changed === true ? { ...augmentation, crop: 2, rotation: 12 } : noAugmentation,
  });
  return callService<RunRecord>(app, 'startRun', { name: plan.name, config });
}

/** What a person looks at first: what is odd about a table. */
async function data(app: App): Promise<void> {
  await sample(app, 'Customers who left');
  await app.page.getByText(/things to look at$/).waitFor();
  await take(app, 'data', 'light');
}

async function run(app: App): Promise<void> {
  const { page } = app;
  const digits = await sample(app, 'Digits');
  const { id } = await start(app, digits, {
    name: 'digits, small CNN',
    preset: 'small-cnn',
    epochs: 120,
    changed: true,
  });
  await goTo(page, `#run/${id}`);
  await page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  await waitForEpoch(app, id, 48);
  await take(app, 'run', 'dark');
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
}

async function compare(app: App): Promise<void> {
  const shapes = await sample(app, 'Shapes');
  const ids: number[] = [];
  const plans: readonly Plan[] = [
    { name: 'small CNN', preset: 'small-cnn', epochs: 30 },
    { name: 'small CNN, pictures changed', preset: 'small-cnn', epochs: 30, changed: true },
    {
      name: 'dense layers alone',
      epochs: 30,
      model: { version: 1, layers: [{ type: 'flatten' }, ...mlp([128, 64]).layers] },
    },
  ];
  for (const plan of plans) {
    const { id } = await start(app, shapes, plan);
    await waitForState(app, id, 'completed');
    ids.push(id);
  }
  await goTo(app.page, `#compare/${ids.join()}`);
  await app.page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  await take(app, 'compare', 'light');
}

/** Of the views of hardware the one whose figures are exact on any machine, loaded or not; a run stands beside its forecast. */
async function hardware(app: App): Promise<void> {
  const { page } = app;
  const penguins = await sample(app, 'Palmer penguins');
  for (const preset of ['tabular', 'small']) {
    const { id } = await start(app, penguins, { name: `penguins, ${preset}`, preset, epochs: 60 });
    await waitForState(app, id, 'completed');
  }
  await goTo(page, '#hardware/memory');
  await page.getByText('Forecast against measured').waitFor();
  await page.getByText('penguins, tabular').last().waitFor();
  await take(app, 'hardware', 'light');
}

const scenes = { data, run, compare, hardware };
for (const [name, scene] of Object.entries(scenes)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue;
  const app = await launch();
  try {
    const window = await app.electron.browserWindow(app.page);
    await window.evaluate((shown, { width, height }) => shown.setContentSize(width, height), size);
    await app.page.getByRole('link', { name: 'Settings' }).waitFor();
    await scene(app);
  } catch (error) {
    await app.page.screenshot({ path: path.join(screenshots, `failed-${name}.png`) });
    throw error;
  } finally {
    await app.close();
    fs.rmSync(app.home, { recursive: true, force: true });
  }
}
