// Every view in both themes, checked by axe, and in the smallest window.

import type { Page } from '@playwright/test';
import { violations } from './axe.ts';
import { callService, expect, screenshot, test, type App } from './launch.ts';
import { importTable, startRun, trainingHalted, waitForEpoch, waitForState, writeTable } from './scene.ts';

const themes = ['light', 'dark'] as const;

interface View {
  readonly name: string;
  readonly address: string;
  /** What has to be there before the view is judged. */
  readonly ready: (page: Page) => Promise<void>;
  /** Made of what other views are made of: the dark theme tells enough. */
  readonly darkAlone?: true;
  /** Shows the run that is training, which goes on meanwhile. */
  readonly live?: true;
}

/** A dataset and three runs, two of them ended. */
async function setScene(app: App): Promise<readonly View[]> {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const runs: number[] = [];
  for (const [name, epochs] of [
    ['Short', 6],
    ['Longer', 12],
  ] as const) {
    const { id } = await startRun(app, dataset, epochs, name);
    await waitForState(app, id, 'completed');
    runs.push(id);
  }
  await callService(app, 'updateRun', { run: runs[0], patch: { starred: true, tags: ['keep'], notes: 'A note.' } });
  const { id: live } = await startRun(app, dataset, 100_000, 'Live');
  await waitForEpoch(app, live, 1);
  await trainingHalted(app, true);

  const heading = (name: string | RegExp) => async (page: Page) =>
    expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  const curve = (name: string) => async (page: Page) =>
    expect(page.getByRole('slider', { name: `${name} chart` })).toHaveAttribute('aria-valuetext', /\d/);
  return [
    { name: 'welcome', address: '#welcome', ready: heading('Train a model on this machine') },
    { name: 'datasets', address: '#datasets', ready: heading('Datasets') },
    { name: 'dataset-columns', address: `#dataset/${dataset.id}`, ready: heading('points') },
    { name: 'dataset-rows', address: `#dataset/${dataset.id}/rows`, ready: heading('points') },
    {
      name: 'new-run',
      address: `#new/${dataset.id}`,
      ready: async (page) => {
        await page.getByRole('button', { name: 'Small MLP' }).click();
        await expect(page.getByRole('row', { name: /^Total/ })).toBeVisible();
      },
    },
    { name: 'run-live', address: `#run/${live}`, ready: curve('Loss'), live: true },
    { name: 'run-ended', address: `#run/${runs[1]}`, ready: curve('Accuracy') },
    {
      name: 'run-evaluation',
      address: `#run/${runs[1]}/evaluation`,
      ready: (page) =>
        expect(page.getByRole('region', { name: 'Table of worst rows' })).toBeVisible({ timeout: 30_000 }),
    },
    {
      name: 'run-explain',
      address: `#run/${runs[1]}/explain`,
      darkAlone: true,
      ready: (page) => expect(page.getByRole('button', { name: 'Explain', exact: true })).toBeVisible(),
    },
    {
      name: 'run-predict',
      address: `#run/${runs[1]}/predict`,
      ready: (page) => expect(page.getByRole('tab', { name: 'Predict', selected: true })).toBeVisible(),
    },
    {
      name: 'run-files',
      address: `#run/${runs[1]}/files`,
      darkAlone: true,
      ready: (page) => expect(page.getByRole('tab', { name: 'Files', selected: true })).toBeVisible(),
    },
    {
      name: 'runs',
      address: '#runs',
      live: true,
      ready: (page) => expect(page.getByRole('link', { name: 'Longer' })).toBeVisible(),
    },
    { name: 'compare', address: `#compare/${runs.join()}`, ready: curve('Validation loss') },
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
      name: 'licences',
      address: '#licences',
      ready: (page) => expect(page.getByRole('button', { name: /^libaom/ })).toBeVisible(),
    },
  ];
}

async function open(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

async function show(app: App, { address, ready, live }: View): Promise<void> {
  if (live) await trainingHalted(app, false);
  await open(app.page, address);
  await ready(app.page);
}

test('every view passes axe in both themes, and nothing of it is cut off in a small window', async ({ app }) => {
  test.setTimeout(240_000);
  const { page } = app;
  const views = await setScene(app);
  for (const theme of themes) {
    await open(page, '#settings');
    await page.getByText(theme === 'light' ? 'Light' : 'Dark', { exact: true }).click();
    await expect(page.locator(`[data-theme=${theme}]`)).toHaveCount(1);
    for (const view of views) {
      const { name, darkAlone } = view;
      if (darkAlone && theme !== 'dark') continue;
      await show(app, view);
      expect.soft(await violations(page), `${name}, ${theme}`).toEqual([]);
      await screenshot(app, `${name}-${theme}`);
      if (view.live) await trainingHalted(app, true);
    }
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('combobox', { name: 'Search or run a command' })).toBeFocused();
    expect.soft(await violations(page), `palette, ${theme}`).toEqual([]);
    await screenshot(app, `palette-${theme}`);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('combobox', { name: 'Search or run a command' })).toBeHidden();
    // A key pressed while the palette gives the focus back reaches nobody.
    await expect(async () => {
      await page.keyboard.press('?');
      await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible({ timeout: 2000 });
    }).toPass();
    expect.soft(await violations(page), `shortcuts, ${theme}`).toEqual([]);
    await screenshot(app, `shortcuts-${theme}`);
    await page.keyboard.press('Escape');
  }

  await test.step('nothing is cut off in the smallest window, nor at twice the text size', async () => {
    for (const zoom of [1, 2]) {
      await app.electron.evaluate(({ BrowserWindow }, factor) => {
        const [window] = BrowserWindow.getAllWindows().filter((candidate) => candidate.isVisible());
        window.setContentSize(1100, 720);
        window.webContents.setZoomFactor(factor);
      }, zoom);
      await page.waitForFunction((factor) => Math.abs(innerWidth - 1100 / factor) < 20, zoom);
      for (const view of views) {
        const { name } = view;
        await show(app, view);
        await screenshot(app, `${name}-1100-${zoom}x`);
        // The primary action and the title of the view stay inside the window.
        const outside = await page.evaluate(() =>
          [...document.querySelectorAll('main h1, .view-header button')]
            .filter((element) => {
              const { left, right, width } = element.getBoundingClientRect();
              return width > 0 && (left < 0 || right > innerWidth + 1);
            })
            .map((element) => element.textContent?.trim()),
        );
        expect.soft(outside, `${name} at ${zoom} ×`).toEqual([]);
        if (view.live) await trainingHalted(app, true);
      }
    }
  });

  await test.step('less motion and forced colours are honoured', async () => {
    await open(page, '#welcome');
    await expect(page.getByRole('heading', { level: 1, name: 'Train a model on this machine' })).toBeVisible();
    await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' });
    const durations = await page.evaluate(() =>
      [...document.querySelectorAll('*')].map((element) => getComputedStyle(element).transitionDuration),
    );
    expect(new Set(durations)).toEqual(new Set(['0s']));
    // What a drawing of boxes shows is their colour; of tabs the chosen one alone has a line.
    await open(page, '#hardware');
    await expect(page.locator('.track .memory-activations').first()).toBeVisible();
    const seen = await page.evaluate(() => {
      const canvas = getComputedStyle(document.body).backgroundColor;
      const shows = (selector: string, side: 'backgroundColor' | 'borderBottomColor'): boolean[] =>
        [...document.querySelectorAll(selector)].map((each) => getComputedStyle(each)[side] !== canvas);
      return {
        bars: shows('.track > :is(.memory-parameters, .memory-activations), .track i', 'backgroundColor'),
        tabs: shows('[role="tab"]', 'borderBottomColor'),
      };
    });
    expect(seen.bars).not.toContain(false);
    expect(seen.tabs).toEqual(seen.tabs.map((_, at) => at === 0));
    await open(page, '#welcome');
    await screenshot(app, 'forced-colors');
  });
});

test.afterEach(({ app }) => stopAll(app));

/** So that closing the app asks nothing. */
async function stopAll(app: App): Promise<void> {
  await trainingHalted(app, false);
  const { runs } = await callService<{ runs: readonly { id: number }[] }>(app, 'runs', {
    states: ['running', 'queued'],
  });
  for (const { id } of runs) {
    await callService(app, 'stopRun', { run: id });
    await waitForState(app, id, 'stopped');
  }
}
