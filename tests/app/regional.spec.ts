// The window under a German regional format, which Chromium takes from the environment alone: figures, dates and axes are written so, what is
// typed is read so, files and stored settings are as everywhere, nothing is cut. And formats that a desktop sets beside an English language.

import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { AppInfo } from '../../engine/protocol/app.ts';
import { boostedFields } from '../../engine/learners/boosted/declaration.ts';
import { isNetwork } from '../../engine/learners/network/declaration.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { completed, quietOf } from '../../engine/settings/values.ts';
import { clippedTexts } from './clipping.ts';
import {
  callService,
  drawn,
  expect,
  launch,
  saveNextAs,
  screenshot,
  test as plain,
  testsOfOneApp,
  type App,
} from './launch.ts';
import { importTable, runConfig, startRun, waitForState, writeTable } from './scene.ts';

const test = testsOfOneApp({ env: { LC_ALL: 'de_DE.UTF-8' } });

/** Numbers that the page says or draws as no German does. Logs, notices and code are the engine's. */
async function foreignNumbers(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const engine = '.log, .notice, code, pre, script, style, [data-words-of-engine]';
    const isForeign = (text: string): boolean =>
      (text.replace(/Trainyard [\d.]+/, '').match(/(?<![\p{L}\d.,])\d+(?:[.,]\d+)+\.?(?!\p{L})/gu) ?? []).some(
        (number) => !/^(?:\d\d\.\d\d\.(?:\d{4}\.?)?|(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?\.?)$/.test(number),
      );
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      if (isForeign(text) && !node.parentElement?.closest(engine)) found.push(text.trim());
    }
    for (const element of document.querySelectorAll('[title], [aria-label], [aria-valuetext]')) {
      if (element.closest(engine)) continue;
      for (const name of ['title', 'aria-label', 'aria-valuetext']) {
        const text = element.getAttribute(name);
        if (text !== null && isForeign(text)) found.push(`${name}: ${text}`);
      }
    }
    for (const field of document.querySelectorAll('input:not([type=range])'))
      if (isForeign((field as HTMLInputElement).value)) found.push(`field: ${(field as HTMLInputElement).value}`);
    const { drawnTexts = [] } = globalThis as { drawnTexts?: string[] };
    return [...new Set([...found, ...drawnTexts.filter(isForeign).map((text) => `drawn: ${text}`)])];
  });
}

async function go(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), address);
}

/** Text that charts draw is kept, and the clock is a month ahead, so that the history shows dates. */
async function prepare({ page }: App): Promise<void> {
  await page.addInitScript(() => {
    const drawnTexts: string[] = [];
    Object.assign(globalThis, { drawnTexts });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text: string, ...rest: [number, number, number?]) {
      drawnTexts.push(text);
      return fillText.call(this, text, ...rest);
    };
    const { now } = Date;
    Date.now = () => now() + 30 * 86_400_000;
  });
}

test('a German regional format: shown, typed, stored, and nothing cut', async ({ app }) => {
  test.setTimeout(180_000);
  const { page, electron, home } = app;
  expect(await electron.evaluate(({ app }) => app.getSystemLocale())).toBe('de-DE');
  await prepare(app);
  const { region } = await callService<AppInfo>(app, 'info');
  expect(region).toEqual({ numbers: 'de_DE.UTF-8', dates: 'de_DE.UTF-8' });

  const dataset = await importTable(app, writeTable(home, 2000));
  const first = await startRun(app, dataset, 40, 'First');
  const done = await waitForState(app, first.id, 'completed');

  await test.step('a run’s page and its charts', async () => {
    await go(page, `#run/${first.id}`);
    const chart = page.getByRole('slider', { name: /chart$/ }).first();
    await expect(chart).toBeVisible();
    await expect(
      page
        .locator('.figure .value')
        .filter({ hasText: /^0,\d{4}/ })
        .first(),
    ).toBeVisible();
    const axis = (): Promise<string[]> =>
      page.evaluate(() => (globalThis as unknown as { drawnTexts: string[] }).drawnTexts);
    await expect.poll(async () => (await axis()).filter((text) => /^\d,\d+$/.test(text)).length).toBeGreaterThan(2);
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(chart).toHaveAttribute('aria-valuetext', /\d,\d/);
    expect.soft(await foreignNumbers(page)).toEqual([]);
    await screenshot(app, 'german-run');
    await go(page, `#run/${first.id}/evaluation`);
    await expect(
      page
        .locator('svg text')
        .filter({ hasText: /^0,\d+$/ })
        .first(),
    ).toBeVisible({ timeout: 30_000 });
    await screenshot(app, 'german-evaluation');
  });

  await test.step('the history’s dates and scores', async () => {
    await go(page, '#runs');
    const row = page.getByRole('row', { name: /First/ });
    const begun = new Date(done.createdAt);
    const two = (value: number): string => String(value).padStart(2, '0');
    await expect(row).toContainText(`${two(begun.getDate())}.${two(begun.getMonth() + 1)}.${begun.getFullYear()}`);
    await expect(row).toContainText(/0,\d{4}/);
    expect.soft(await foreignNumbers(page)).toEqual([]);
    await screenshot(app, 'german-runs');
  });

  await test.step('conditions of trees and findings, which the engine words', async () => {
    const { dataset: id, settings, device, threads, seed } = runConfig(dataset, 1);
    const boosted = { ...quietOf(boostedFields), ...completed(boostedFields, {}), trees: 4, leaves: 8 };
    const config = { learner: 'boosted', dataset: id, settings, device, threads, seed, boosted };
    const { id: run } = await callService<RunRecord>(app, 'startRun', { name: 'Trees', config });
    await waitForState(app, run, 'completed');
    await go(page, `#run/${run}/trees`);
    await expect(page.getByText(/^≤ -?\d+,\d+$/).first()).toBeVisible();
    expect.soft(await foreignNumbers(page)).toEqual([]);
    await go(page, `#run/${first.id}/explain`);
    await expect(
      page
        .getByRole('list', { name: 'Findings' })
        .getByText(/\d,\d+ → \d,\d+/)
        .first(),
    ).toBeVisible();
    expect.soft(await foreignNumbers(page)).toEqual([]);
  });

  await test.step('what is typed is what is stored', async () => {
    await go(page, `#new/${dataset.id}?from=${first.id}`);
    const rate = page.getByRole('textbox', { name: 'Learning rate', exact: true });
    await expect(rate).toHaveValue(/^0,\d+$/);
    await rate.fill('0,01');
    const epochs = page.getByRole('textbox', { name: /^Epochs/ });
    await epochs.fill('1.000');
    await expect(page.getByText('“1.000” could be 1000 or 1,000: write it like one of these')).toBeVisible();
    await expect(page.getByText('tests all 2.000 rows')).toBeVisible();
    expect(await clippedTexts(page)).toEqual([]);
    await screenshot(app, 'german-new-run');
    await epochs.fill('2');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page).toHaveURL(/#run\/\d+/);
    const id = Number(/#run\/(\d+)/.exec(page.url())?.[1]);
    const { config } = await waitForState(app, id, 'completed');
    expect(isNetwork(config) && config.training.optimizer.learningRate).toBe(0.01);
    expect(isNetwork(config) && config.training.epochs).toBe(2);
  });

  await test.step('a chart’s figures leave the window as everywhere', async () => {
    await go(page, `#run/${first.id}`);
    const file = path.join(home, 'chart.csv');
    await saveNextAs(app, file);
    await page
      .getByRole('button', { name: /^Export Loss/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Save as CSV…' }).click();
    await expect.poll(() => fs.existsSync(file)).toBe(true);
    const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
    expect(lines.filter((line) => !/^\d+(\.\d+)?(,(\d+(\.\d+)?(e-\d+)?)?){2}$/.test(line))).toEqual([]);
  });

  await test.step('nothing is cut, and no figure is forgotten', async () => {
    const runs = await callService<{ runs: readonly RunRecord[] }>(app, 'runs', {});
    const ids = runs.runs.map(({ id }) => id).join(',');
    const window = await electron.browserWindow(page);
    for (const [width, zoom] of [
      [1100, 1],
      [1100, 1.25],
      [1440, 1],
    ] as const) {
      await window.evaluate(
        (browser, [w, z]) => {
          browser.setContentSize(w, 800);
          browser.webContents.setZoomFactor(z);
        },
        [width, zoom] as const,
      );
      await page.waitForFunction((wanted) => Math.abs(innerWidth - wanted) < 3, width / zoom);
      for (const address of [
        `dataset/${dataset.id}`,
        `new/${dataset.id}?from=${first.id}`,
        'runs',
        `run/${first.id}`,
        `run/${first.id}/evaluation`,
        `compare/${ids}`,
        'hardware',
        ...['cost', 'memory', 'roofline', 'rent'].map((tab) => `hardware/${tab}`),
        'settings',
      ]) {
        await go(page, `#${address}`);
        await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
        if (address.endsWith('evaluation')) await expect(page.getByRole('region', { name: 'Threshold' })).toBeVisible();
        expect.soft(await clippedTexts(page), `${address}, ${width} wide, ${zoom} ×`).toEqual([]);
        if (zoom === 1) expect.soft(await foreignNumbers(page), address).toEqual([]);
        await screenshot(app, `german-${zoom}-${address.replace(/\W+/g, '-')}-${width}`);
      }
    }
  });

  await test.step('the pages of Hardware', async () => {
    for (const tab of ['cost', 'memory', 'roofline', 'rent']) {
      await go(page, `#hardware/${tab}`);
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
      await drawn(page);
      expect.soft(await foreignNumbers(page), tab).toEqual([]);
      await screenshot(app, `german-hardware-${tab}`);
    }
  });

  await test.step('Settings, by the keyboard: as in English, also after the next start', async () => {
    await go(page, '#settings');
    const section = page.getByRole('heading', { name: 'Look' }).locator('..');
    await expect(section).toContainText(/1\.234,5 on \d\d\.\d\d\.\d{4}/);
    await section.getByRole('radio', { name: 'As the system' }).last().focus();
    await page.keyboard.press('ArrowRight');
    await expect(section).toContainText(/1,234\.5 on \d{1,2} \p{L}{3,4} \d{4}/u);
    await expect(section.getByRole('radio', { name: 'As in English' })).toBeFocused();
    await screenshot(app, 'german-settings-english');
    const loaded = page.waitForEvent('load');
    await (await electron.browserWindow(page)).evaluate((browser) => browser.webContents.reload());
    await loaded;
    await expect(section).toContainText('1,234.5 on');
    await section.getByRole('radio', { name: 'As the system' }).last().check({ force: true });
    await expect(section).toContainText('1.234,5 on');
  });
});

plain('formats that a desktop sets beside an English language', async () => {
  const env = { LC_ALL: '', LANG: 'en_US.UTF-8', LC_NUMERIC: 'de_CH.UTF-8', LC_TIME: 'en_IN.UTF-8' };
  const app = await launch({ env });
  try {
    await app.page.evaluate(() => (location.hash = '#settings'));
    await expect(app.page.getByText(/1[’'.]?234\.5 on/)).toHaveText(
      /1[’']234\.5 on \d{1,2} \p{L}{3,4} \d{4}, \d{1,2}:\d\d\s[ap]m\./u,
    );
  } finally {
    await app.close();
    fs.rmSync(app.home, { recursive: true, force: true });
  }
});
