// The app trains as the command line does: the window's own defaults, started by its own buttons, give the same losses, and so
// does every number of threads, with the native addon and without. (Two threads once trained wrong in the app alone.)

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { MetricPoint, RunConfig, RunRecord } from '../../engine/protocol/runs.ts';
import { penguins, startTrainyard, tables } from '../support/cli.ts';
import { encoders, noise, paint, type Colour } from '../support/pictures.ts';
import { callService, dropFiles, expect, launch, test, type App } from './launch.ts';
import { waitForState } from './scene.ts';

/** What a person chooses beyond the defaults: the preset, and few epochs to save time. */
interface Choice {
  readonly path: string;
  readonly preset: { readonly name: string; readonly title: string } | null;
  readonly epochs: number | null;
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-losses-'));
test.afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const choices: readonly Choice[] = [
  { path: penguins, preset: { name: 'small', title: 'Small MLP' }, epochs: null },
  { path: penguins, preset: { name: 'realmlp', title: 'RealMLP' }, epochs: 3 },
  { path: path.join(tables, 'digits.csv'), preset: { name: 'large', title: 'Large MLP' }, epochs: 2 },
  { path: writePictures(folder), preset: { name: 'small-cnn', title: 'Small CNN' }, epochs: 2 },
];

/** Three kinds of grainy 16 × 16 pictures, 80 of each. */
function writePictures(home: string): string {
  const tints: readonly Colour[] = [
    [60, 0, 0],
    [0, 60, 0],
    [0, 0, 60],
  ];
  tints.forEach((tint, kind) => {
    const files = path.join(home, 'tints', `kind-${kind}`);
    fs.mkdirSync(files, { recursive: true });
    for (let i = 0; i < 80; i++) {
      const grain = noise(1 + kind * 100 + i, 2);
      const picture = paint(16, 16, (x, y) => {
        const [r, g, b] = grain(x, y);
        return [Math.min(255, r + tint[0]), Math.min(255, g + tint[1]), Math.min(255, b + tint[2])];
      });
      fs.writeFileSync(path.join(files, `${i}.png`), encoders.png(picture));
    }
  });
  return path.join(home, 'tints');
}

/** Series a run is compared by, as `epoch series` → value. */
type Curves = ReadonlyMap<string, number>;

function curvesOf(points: readonly MetricPoint[]): Curves {
  return new Map(
    points
      .filter(({ series }) => /^(train_loss|val_loss|val_accuracy)$/.test(series))
      .map(({ series, epoch, value }) => [`epoch ${epoch} ${series}`, value]),
  );
}

/** Trains by the command line and returns its curves and the training settings it took. */
async function byCommandLine({ path: file, preset, epochs }: Choice, env: Record<string, string>): Promise<Curves> {
  const home = fs.mkdtempSync(path.join(folder, 'cli-'));
  const options = [...(preset ? ['--model', preset.name] : []), ...(epochs ? ['--epochs', String(epochs)] : [])];
  const { code, stderr, events } = await startTrainyard(home, ['train', file, ...options, '--json'], undefined, env)
    .finished;
  expect(code, stderr).toBe(0);
  const points = events
    .filter(({ event }) => event === 'epoch')
    .flatMap(({ epoch, metrics }) =>
      Object.entries(metrics as Record<string, number>).map(([series, value]): MetricPoint => ({
        series,
        value,
        epoch: Number(epoch),
        step: 0,
        seconds: 0,
      })),
    );
  return curvesOf(points);
}

/** Drops the data on the window, chooses the preset and presses Start. */
async function inTheWindow(app: App, { path: file, preset, epochs }: Choice): Promise<RunRecord> {
  const { page } = app;
  await dropFiles(app, file);
  await page.getByRole('button', { name: 'New run with this data' }).click();
  await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
  if (preset) await page.getByRole('button', { name: preset.title }).click();
  if (epochs) await page.getByLabel('Epochs', { exact: true }).fill(String(epochs));
  // The command line takes one split; a small table begins with folds here.
  const single = page.getByRole('button', { name: 'Take one training' });
  if (await single.isVisible()) await single.click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/#run\/\d+$/);
  return waitForState(app, runShown(page), 'completed', 'failed');
}

const runShown = (page: Page): number => Number(/#run\/(\d+)$/.exec(page.url())?.[1]);

async function curvesInStore(app: App, run: number): Promise<Curves> {
  return curvesOf(await callService<readonly MetricPoint[]>(app, 'metrics', { run }));
}

/** The same epochs, and the same values but for the last digits of other engines' logarithms. */
function expectSame(got: Curves, wanted: Curves): void {
  expect([...got.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [name, value] of wanted) {
    expect(Math.abs((got.get(name) ?? NaN) - value), `${name}: ${got.get(name)} and ${value}`).toBeLessThanOrEqual(
      1e-5 * Math.max(1e-3, Math.abs(value)),
    );
  }
}

for (const [kernels, env, chosen] of [
  ['the native addon', {}, choices],
  // Those whose steps are the largest: products and convolutions on several threads.
  ['WebAssembly alone', { TRAINYARD_NATIVE: '0' }, choices.slice(2)],
] as const) {
  test(`window and command line give the same losses, with ${kernels}`, async () => {
    test.setTimeout(240_000);
    const app = await launch({ env });
    for (const choice of chosen) {
      await test.step(path.basename(choice.path), async () => {
        const wanted = await byCommandLine(choice, env);
        const run = await inTheWindow(app, choice);
        expect(run.state, run.error?.message).toBe('completed');
        expect(run.result?.doubt).toBeUndefined();
        // Nothing is pinned: the window leaves the number of threads to the machine.
        expect([run.config.device, run.config.threads]).toEqual(['auto', 0]);
        const curves = await curvesInStore(app, run.id);
        expectSame(curves, wanted);
        if (choice.preset === null) return;
        for (const threads of [1, 2]) {
          const config: RunConfig = { ...run.config, threads };
          const { id } = await callService<RunRecord>(app, 'startRun', { name: `${threads} threads`, config });
          expect((await waitForState(app, id, 'completed', 'failed')).state).toBe('completed');
          expect(await curvesInStore(app, id), `${threads} threads`).toEqual(curves);
        }
      });
    }
    await app.close();
    fs.rmSync(app.home, { recursive: true, force: true });
  });
}
