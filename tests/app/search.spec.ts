// A search in the window: it is followed live, the queue behind it is reordered, the program is killed, and the search goes on where it was; its
// best trial becomes a run by one press.

import fs from 'node:fs';
import { answerDialog, callService, expect, launch, screenshot, test, type App } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';
import type { SearchConfig } from '../../engine/learners/search/declaration.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import type { Trial } from '../../engine/protocol/search.ts';

const space = {
  trees: 30,
  learningRate: { kind: 'float', low: 0.02, high: 0.5, log: true },
  leaves: { kind: 'integer', low: 2, high: 64, log: true },
  minRows: { kind: 'integer', low: 1, high: 50, log: true },
  featureFraction: { kind: 'float', low: 0.4, high: 1 },
  l2: { kind: 'float', low: 0.001, high: 100, log: true },
};

function startSearch(app: App, dataset: DatasetInfo, minutes: number): Promise<RunRecord> {
  const search = {
    of: 'boosted',
    trials: 0,
    minutes,
    sampler: 'tpe',
    asha: true,
    parts: 0,
    parallel: 1,
    space: JSON.stringify(space),
  };
  const common = { dataset: dataset.id, settings: dataset.settings, device: 'auto', threads: 1, seed: 3 };
  return callService<RunRecord>(app, 'startRun', {
    name: 'points search',
    config: { ...common, learner: 'search', search },
  });
}

/** The page at the widths and in the colours that people have. */
async function pictures(app: App): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1100, 1440, 1920]) {
      await app.page.setViewportSize({ width, height: 900 });
      await app.page.emulateMedia({ colorScheme: theme });
      await screenshot(app, `search-${theme}-${width}`);
    }
  }
  await app.page.setViewportSize({ width: 1440, height: 900 });
  await app.page.emulateMedia({ colorScheme: null });
}

/** The space is changed in its table, each wrong end said where it stands; the run has what the table says. */
async function changeSpace({ page }: App, dataset: DatasetInfo): Promise<void> {
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: /^Search One learner/ }).click();
  const tried = page.getByRole('region', { name: 'Settings that are tried' });
  await expect(tried).toContainText('the ready-made space');
  const most = tried.getByRole('textbox', { name: 'Leaves, to' });
  await most.fill('3');
  await expect(tried.getByRole('alert')).toContainText('leaves');
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toHaveAttribute('aria-disabled', 'true');
  await most.fill('24');
  await expect(tried.getByRole('alert')).toBeHidden();
  await tried.getByRole('button', { name: 'Leave out L2' }).press('Enter');
  await expect(tried.getByRole('button', { name: 'Leave out Trees without gain' })).toBeFocused();
  await tried.getByRole('combobox', { name: 'Try another setting' }).selectOption({ label: 'Trees' });
  await tried.getByRole('textbox', { name: 'Trees, from' }).fill('10');
  await tried.getByRole('textbox', { name: 'Trees, to' }).fill('20');
  await page.getByRole('textbox', { name: /^Trials/ }).fill('2');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Table of trials' })).toBeVisible();
}

const trialsOf = (app: App, run: number): Promise<readonly Trial[]> => callService(app, 'trials', { run });

test('a search is followed, outlives the program, and its best trial becomes a run', async () => {
  test.setTimeout(180_000);
  const app = await launch();
  const dataset = await importTable(app, writeTable(app.home, 400));
  await changeSpace(app, dataset);
  const small = await waitForState(app, 1, 'completed');
  expect(JSON.parse((small.config as unknown as SearchConfig).search.space)).toMatchObject({
    leaves: { low: 4, high: 24 },
    trees: { kind: 'integer', low: 10, high: 20 },
  });
  expect((small.config as unknown as SearchConfig).search.space).not.toContain('l2');
  const { id } = await startSearch(app, dataset, 20 / 60);
  for (const name of ['one', 'two']) await startRun(app, dataset, 1, name);
  const { page } = app;
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  const table = page.getByRole('region', { name: 'Table of trials' });
  await expect.poll(async () => (await trialsOf(app, id)).length, { timeout: 60_000 }).toBeGreaterThan(20);
  await expect(page.getByRole('img', { name: /log loss of \d+ trials; the best is/ })).toBeVisible();
  await expect(table.getByRole('row').nth(5)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Shares of settings' })).toContainText('Learning rate', {
    timeout: 30_000,
  });
  await expect(page.getByText(/^points search: trial \d+ of \d+, loss \d/)).toHaveCount(1);
  await screenshot(app, 'search-live');

  // The queue behind it.
  await page.getByRole('link', { name: /^Queue/ }).click();
  const waiting = page.getByRole('listbox', { name: 'Waiting' }).getByRole('option');
  await waiting.nth(1).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(waiting).toHaveText([/two/, /one/]);

  const before = await trialsOf(app, id);
  const gone = new Promise((resolve) => app.electron.process().once('exit', resolve));
  app.electron.process().kill('SIGKILL');
  await gone;
  const again = await launch({ home: app.home });
  try {
    const note = again.page.getByText(/^points search goes on from where it was/);
    await expect(note).toBeVisible();
    // A page that is loaded again meanwhile says it too.
    await (await again.electron.browserWindow(again.page)).evaluate((window) => window.webContents.reload());
    await again.page.waitForEvent('load');
    await expect(note).toBeVisible();
    await again.page.evaluate((run) => (location.hash = `#run/${run}`), id);
    await expect
      .poll(async () => (await trialsOf(again, id)).length, { timeout: 60_000 })
      .toBeGreaterThan(before.length);
    await waitForState(again, id, 'completed');
    const after = await trialsOf(again, id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ trial }) => trial)).toEqual(after.map((_, at) => at + 1));
    await expect(again.page.getByText(/The test split stays closed/)).toBeVisible();
    const { result } = await callService<RunRecord>(again, 'run', { run: id });
    expect(result?.search?.trials).toBe(after.length);
    expect(Object.keys(result?.metrics ?? {}).filter((name) => name.startsWith('test_'))).toEqual([]);
    await pictures(again);

    await again.page.getByRole('button', { name: 'Train the best as a run' }).click();
    await expect(again.page.getByRole('heading', { name: /points search, trial \d+/ })).toBeVisible();
    const { config, parent } = await callService<RunRecord>(again, 'run', { run: id + 3 });
    expect([config.learner, parent]).toEqual(['boosted', id]);
    await waitForState(again, id + 3, 'completed');

    await again.page.evaluate((run) => (location.hash = `#run/${run}`), id);
    await again.page.getByLabel('Trials of the ensemble').selectOption('3');
    await again.page.getByRole('button', { name: 'Ensemble the best' }).click();
    await expect(again.page.getByRole('heading', { name: 'points search, best 3' })).toBeVisible();
    await waitForState(again, id + 4, 'completed');
    const ensemble = await callService<RunRecord>(again, 'run', { run: id + 4 });
    const completed = after
      .filter(({ state }) => state === 'completed')
      .sort((one, other) => one.score! - other.score!);
    const members = ensemble.result?.leaderboard?.filter(({ member }) => member !== null) ?? [];
    expect(members.length).toBe(3);
    expect(members.map(({ title }) => title)).toContain(`Trial ${completed[0].trial}`);
    expect(Object.keys(ensemble.result?.metrics ?? {})).toContain('test_accuracy');
    await screenshot(again, 'search-ensemble');
  } finally {
    await answerDialog(again, /at the next start/);
    await again.close();
    fs.rmSync(app.home, { recursive: true, force: true });
  }
});
