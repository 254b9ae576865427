// The Hardware section as a person uses it: its tabs by keyboard and palette, Rent or buy without and with a history, a damaged own
// catalogue, and every tab at three widths, where no text is cut, and in both themes.

import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import {
  largestTextbookBatch,
  planMemory,
  textbookMemory,
  withOverheads,
  type TextbookMemory,
} from '../../engine/hardware/memory-forecast.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { bytes, fixed } from '../../renderer/lib/format.ts';
import { textbookOptions } from '../../renderer/views/hardware/memory/memory.ts';
import { addressLimit } from '../../engine/backends/cpu/arena.ts';
import { forecast, largestHere } from '../../engine/hardware/forecast.ts';
import { breakEvenHours } from '../../engine/hardware/formulas/money.ts';
import { costRows, spanText, type CostRow } from '../../renderer/views/hardware/cost/rows.ts';
import { usd } from '../../renderer/views/hardware/money.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { exampleConfig } from '../unit/fixtures/history.ts';
import { workstation } from '../unit/fixtures/workstation.ts';
import { violations } from './axe.ts';
import { clippedTexts } from './clipping.ts';
import { callService, drawn, expect, launch, screenshot, test, type App } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';

const sizes = [
  [1100, 720],
  [1440, 900],
  [1920, 1080],
] as const;

const tabs = [
  { id: '', label: 'Overview' },
  { id: 'lab', label: 'Lab' },
  { id: 'roofline', label: 'Roofline' },
  { id: 'memory', label: 'Memory' },
  { id: 'cost', label: 'Time and cost' },
  { id: 'rent', label: 'Rent or buy' },
  { id: 'advise', label: 'Advise' },
  { id: 'claims', label: 'Claims' },
] as const;

const plainText = (text: string | null): string => (text ?? '').replaceAll('\u00a0', ' ');

async function open(page: Page, tab: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), tab === '' ? '#hardware' : `#hardware/${tab}`);
  const { label } = tabs.find(({ id }) => id === tab)!;
  await expect(page.getByRole('tab', { name: label })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel', { name: label })).toBeVisible();
}

const answer = (page: Page) => page.getByRole('region', { name: 'The answer' });

/** Types a value into a slider, as a click on its number lets one. */
async function type(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${label}: .*Type another`) }).click();
  await page.getByRole('textbox', { name: label }).fill(value);
  await page.keyboard.press('Enter');
}

/** In the overview's memory forecast the bars, their figures and the line of what there is have one scale. */
async function expectOneScale(page: Page): Promise<void> {
  const pane = page.getByRole('region', { name: 'Memory forecast' });
  const there = gigabytes(await pane.getByText(/^there is .* here$/).textContent());
  const bars = await pane.getByRole('img').evaluateAll((tracks) =>
    tracks.map((track) => {
      const [from, line] = [track.getBoundingClientRect().left, track.querySelector('i')];
      return {
        text: track.querySelector('b')!.textContent,
        bar: [...track.querySelectorAll('span')].at(-1)!.getBoundingClientRect().right - from,
        line: line && line.getBoundingClientRect().left - from,
      };
    }),
  );
  expect(bars.length).toBeGreaterThan(2);
  const pixels = Math.max(...bars.map(({ bar, text }) => bar / gigabytes(text)));
  for (const { text, bar, line } of bars) {
    expect(Math.abs(bar - pixels * gigabytes(text)), text!).toBeLessThan(3);
    if (line !== null) expect(Math.abs(line - pixels * there), `${text} against ${there} GB`).toBeLessThan(3);
  }
}

const gigabytes = (text: string | null): number => {
  const [, size, unit] = /([\d.]+).([GM])B/.exec(text ?? '') ?? [];
  return Number(size) * (unit === 'M' ? 1e-3 : 1);
};

test('the hardware section', async () => {
  test.setTimeout(240_000);
  const app: App = await launch({ env: { TRAINYARD_SOFTWARE_GPU: '1' } });
  const { page, home } = app;
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();

  await test.step('the overview labels the software adapter; arrow keys walk the tabs, the palette finds them', async () => {
    await open(page, '');
    await expect(page.getByText('software: for testing').first()).toBeVisible();
    await expect(page.getByRole('button', { name: 'Measure, 60 s' })).toBeVisible();
    await expect(answer(page)).toContainText(/About .* here, .* on an RTX 4090/);
    const dashed = page.getByRole('slider', { name: 'Roofline chart' });
    await expect(dashed).toHaveAttribute('aria-valuetext', /CPU, guessed [\d.]+.[GT]FLOP\/s/);
    await expect(page.getByRole('img', { name: /^GPT-2 small, batch 8: parameters .*, activations/ })).toBeVisible();
    await expectOneScale(page);
    await open(page, 'lab');
    await expect(page.getByRole('slider', { name: 'Crossover chart' })).toHaveAttribute(
      'aria-valuetext',
      /CPU, guessed [\d.]+.[GT]FLOP\/s/,
    );
    await open(page, '');
    const pays = page.getByRole('slider', { name: 'Rent or buy chart' });
    const before = await pays.getAttribute('aria-valuetext');
    await page.getByRole('textbox', { name: 'Card, USD' }).fill('1000');
    await expect(pays).not.toHaveAttribute('aria-valuetext', before!);
    await page.getByRole('textbox', { name: 'Card, USD' }).fill('2000');
    await expect(pays).toHaveAttribute('aria-valuetext', before!);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    for (const { label } of [...tabs.slice(1), tabs[0]]) {
      await page.keyboard.press('ArrowRight');
      await expect(page.getByRole('tab', { name: label })).toBeFocused();
      await expect(page.getByRole('tabpanel', { name: label })).toBeVisible();
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('break-even');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('tab', { name: 'Rent or buy' })).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('rent or buy: no history is said, prices move the break-even, the figures are those of the formula', async () => {
    await expect(page.getByText('You have no runs yet: assume 5 h a week?')).toBeVisible();
    const tariff = 0.18;
    const figure = (card: number, rent: number): string =>
      new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }).format(
        breakEvenHours({ card, power: 0.35, tariff }, rent),
      );
    await expect(answer(page)).toContainText(`Owning pays after ${figure(2000, 3.06)}`);
    await type(page, 'Card', '1000');
    await expect(answer(page)).toContainText(`Owning pays after ${figure(1000, 3.06)}`);
    const rent = page.getByRole('slider', { name: 'Rent, on demand' });
    await rent.focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect(answer(page)).toContainText(`Owning pays after ${figure(1000, 2.95)}`);
    await expect(page.getByRole('slider', { name: 'Break-even chart' })).toHaveAttribute(
      'aria-valuetext',
      new RegExp(figure(1000, 2.95)),
    );
    await page.getByRole('button', { name: 'Reset Card' }).click();
    await expect(answer(page)).toContainText(`Owning pays after ${figure(2000, 2.95)}`);
    await type(page, 'Rent, on demand', '0.01');
    await expect(answer(page)).toContainText('Owning never pays');
    await page.getByRole('textbox', { name: 'Rent, on demand' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Reset', exact: true }).click();
    const heading = page.getByRole('heading', { name: /is not the whole truth/ });
    expect(plainText(await heading.textContent())).toBe('Why 654 h is not the whole truth');
  });

  await test.step('time and cost: the forecast’s figures, sorted, pinned and filtered; an own price moves the money and is kept', async () => {
    await open(page, 'cost');
    const grid = page.getByRole('grid', { name: 'Devices' });
    const header = grid.getByRole('columnheader', { name: 'Training' });
    await expect(header).toHaveAttribute('aria-sort', 'ascending');
    await page.getByRole('textbox', { name: 'Epochs', exact: true }).fill('10');

    const expected = (price?: number): CostRow => {
      const own = { version: 1, devices: [{ id: 'rtx-4090', streetPrice: price }] };
      const { catalogue } = readCatalogue(price === undefined ? null : JSON.stringify(own));
      const subject = subjectNamed('resnet50', {});
      const { devices } = forecast(subject, { precision: 'mixed16', catalogue, tariff: 0.18, grid: 475 });
      const settings = { epochs: 10, tariff: 0.18, years: 3, hoursPerWeek: 5 };
      const fit = { costs: subject.costs, options: { precision: 'mixed16', optimizer: 'adam' } } as const;
      return costRows(devices, catalogue, settings, fit).find(({ id }) => id === 'rtx-4090/buy')!;
    };
    const before = expected();
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('Buy');
    await page.getByRole('combobox', { name: 'Vendor' }).selectOption('NVIDIA');
    await expect(page.getByText(/rows: \d+ shown/)).toBeVisible();
    await header.getByRole('button').click();
    await expect(header).toHaveAttribute('aria-sort', 'descending');
    const card = grid.getByRole('row').filter({ hasText: before.name }).first();
    await expect(card).toContainText(spanText(before.epoch));
    await expect(card).toContainText(spanText(before.training));
    await expect(card).toContainText(usd(before.money));

    // Rows out of sight are drawn into the elements of others: first in sight, then clicked.
    await card.scrollIntoViewIfNeeded();
    await drawn(page);
    await card.getByText(before.name).click();
    await grid.focus();
    await expect(card).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('p');
    await expect(card).toHaveAttribute('aria-selected', 'false');
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: new RegExp(`^USD of the device, ${before.name}`) }).fill('1000');
    await page.keyboard.press('Enter');
    const after = expected(1000);
    expect(after.money).not.toBe(before.money);
    await expect(card).toContainText(usd(after.money));
    await expect(page.getByRole('region', { name: 'Pinned' })).toContainText(usd(after.money));
    await open(page, 'rent');
    await expect(page.getByRole('combobox', { name: 'Card' })).toContainText(`${before.name}, $1,000`);
    await open(page, 'cost');
    await expect(grid).toContainText('own');
    expect(readCatalogue(fs.readFileSync(path.join(home, 'hardware', 'catalogue.json'), 'utf8')).problems).toEqual([]);
    fs.rmSync(path.join(home, 'hardware'), { recursive: true });
  });

  await test.step('a run gives the use; a damaged own catalogue is said with line and field, and takes nothing away', async () => {
    const dataset = await importTable(app, writeTable(home, 500));
    await waitForState(app, (await startRun(app, dataset, 3)).id, 'completed');
    fs.mkdirSync(path.join(home, 'hardware'), { recursive: true });
    const file = path.join(home, 'hardware', 'catalogue.json');
    fs.writeFileSync(file, '{ "version": 1,\n  "devices": [ { "id": "rtx-4090", "memory": "24" } ] }\n');
    await open(page, '');
    await open(page, 'rent');
    await expect(page.getByText(/Line 2, field `devices\[0\]\.memory`: a number expected/)).toBeVisible();
    await expect(page.getByText('The built-in catalogue is used.')).toBeVisible();
    await expect(
      page.getByText('Your runs come to under 1 h a week so far: move “Use” to what is to come.'),
    ).toBeVisible();
    await expect(page.getByRole('slider', { name: 'Use, by your runs' })).toHaveAttribute(
      'aria-valuetext',
      /^0\.1 h a week/,
    );
    await expect(page.getByRole('img', { name: /Hours of training by week/ })).toBeVisible();
    fs.rmSync(file);
  });

  await test.step('a run of a learner that this version does not know is a row and a page that say so', async () => {
    const store = createStore(home);
    const config = { ...exampleConfig, learner: 'oracle' } as unknown as RunConfig;
    const { id } = await store.createRun({
      name: 'from later',
      dataset: 'd1',
      datasetName: 'd1',
      config,
      owner: processOwner(),
    });
    await store.updateRun({ run: id, patch: { state: 'stopped', endedAt: Date.now() } });
    await store.close();
    await page.evaluate(() => (location.hash = '#runs'));
    const row = page.getByRole('row').filter({ hasText: 'from later' });
    await expect(row).toContainText('“oracle”, not known to this version');
    await expect(page.getByRole('row').filter({ hasText: 'A run' })).toBeVisible();
    await page.evaluate((run) => (location.hash = `#run/${run}`), id);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('from later');
    await expect(page.getByText('“oracle”, not known to this version').first()).toBeVisible();
    const resumed = callService(app, 'resumeRun', { run: id });
    await expect(resumed).rejects.toThrow(/This version has no learner “oracle”/);
    await callService(app, 'deleteRuns', { runs: [id] });
  });

  await test.step('memory: by part, the largest batch, remedies that add up; what a run took stands beside its forecast', async () => {
    await open(page, 'memory');
    const subject = subjectNamed('resnet50', { batch: 256 });
    await page.getByRole('textbox', { name: 'Batch' }).fill('256');
    const own = planMemory(subject.model!, { train: subject.rows, validation: 0, test: 0 }, { kind: 'cpu', cores: 2 });
    await expect(answer(page)).toContainText(`Batch 256 needs ${bytes(own.memory.total).replace(/\.\d.*/, '')}`);
    // As on the command line: the same search, here in slices.
    const cores = await page.evaluate(() => navigator.hardwareConcurrency);
    const most = largestHere(subject, textbookOptions(subject, 'float32'), cores, addressLimit);
    await expect(page.getByRole('row').filter({ hasText: 'Trainyard, float32' })).toContainText(fixed(most));
    const picture = page.getByRole('slider', { name: 'Memory through one step chart' });
    await expect(picture).toHaveAttribute('aria-valuetext', /states .*, rows .*, work space .*, stage 1 .*, peak /);
    await picture.focus();
    await page.keyboard.press('Home');
    await expect(picture).toHaveAttribute('aria-valuetext', /^call of the step 0: .*stage 1 .* 0.B/);
    await page.keyboard.press('Escape');
    await page.getByText('PyTorch', { exact: true }).click();
    const options = textbookOptions(subject, 'mixed16');
    const needed = (memory: TextbookMemory): string => bytes(withOverheads(memory.total).low);
    await expect(answer(page)).toContainText(`Batch 256 needs ${needed(textbookMemory(subject.costs(256), options))}`);
    const largest = largestTextbookBatch(subject.costs, options, 12e9);
    await expect(answer(page)).toContainText(`Batch ${fixed(largest)} fits as it is.`);
    const ways = page.getByRole('region', { name: 'Largest batch' });
    await expect(ways.getByRole('row', { name: /^16 bits \d/ })).toContainText(fixed(largest));
    await page.getByRole('textbox', { name: 'Memory, GB' }).fill('10');
    await expect(answer(page)).toContainText('may be used of a card of 10.0');
    await expect(ways.getByRole('columnheader', { name: '10 GB' })).toBeVisible();
    await page.getByRole('combobox', { name: 'Against' }).selectOption('12000000000');
    const help = page.getByRole('region', { name: 'What helps' });
    await help.getByRole('checkbox', { name: 'Recomputation' }).check();
    await help.getByRole('checkbox', { name: 'Accumulation' }).check();
    const both = textbookMemory(subject.costs(128), { ...options, recompute: 'full' });
    await expect(help.getByRole('status')).toContainText(`Together: ${needed(both)}`);
    const past = page.getByRole('region', { name: 'Forecast against measured' });
    const row = past.getByRole('row').nth(1);
    await expect(row).toContainText('A run');
    const off = Number.parseFloat(plainText(await row.getByRole('cell').last().innerText()).replace('−', '-'));
    expect(Math.abs(off)).toBeLessThan(5);

    await page.getByRole('combobox', { name: 'Model' }).selectOption('Run: A run');
    await expect(answer(page)).toContainText('it fits a card of 12.0');
    await open(page, 'cost');
    await expect(page.getByText(/^Run: A run · .* rows, batch/)).toBeVisible();
    await page.getByRole('combobox', { name: 'Model' }).selectOption('ResNet-50, 224 px');
  });

  await test.step('no text is cut in any tab of a measured machine, at three widths', async () => {
    // As the command line keeps one while the window is open.
    const store = createStore(home);
    await store.addLab({ result: { ...workstation, startedAt: Date.now() }, imported: false });
    await store.close();
    for (const theme of ['light', 'dark'] as const) {
      await page.evaluate(() => (location.hash = '#settings'));
      await page.getByText(theme === 'light' ? 'Light' : 'Dark', { exact: true }).click();
      for (const [width, height] of sizes) {
        // A theme moves nothing; pictures of both are for people.
        if (theme === 'dark' && width !== 1440 && process.env['TRAINYARD_PICTURES'] !== '1') continue;
        await page.setViewportSize({ width, height });
        for (const { id } of tabs) {
          await open(page, id);
          await drawn(page);
          await drawn(page);
          await screenshot(app, `hardware-${id || 'overview'}-${width}-${theme}`);
          expect.soft(await clippedTexts(page), `${id || 'overview'}, ${width}, ${theme}`).toEqual([]);
          if (width !== 1440) continue;
          expect.soft(await violations(page), `${id || 'overview'}, ${theme}`).toEqual([]);
        }
      }
    }
  });

  expect(errors).toEqual([]);
  await app.close();
  fs.rmSync(home, { recursive: true, force: true });
});
