// What a person does in the window without thinking: look for a command by its everyday word, filter by any dataset or tag,
// take back the last step.

import fs from 'node:fs';
import path from 'node:path';
import { createStore } from '../../engine/history/store.ts';
import { mlp } from '../../engine/model/presets.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { newRun } from '../unit/fixtures/history.ts';
import { callService, drawn, expect, screenshot, test, testsOfOneApp } from './launch.ts';
import { importTable, runConfig, startRun, waitForState, writeTable } from './scene.ts';

const sharing = testsOfOneApp();

sharing('commands by everyday words, all datasets and tags in the filter', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  for (let i = 0; i < 14; i++) {
    const file = path.join(app.home, `other-${i}.csv`);
    fs.writeFileSync(
      file,
      `a,b\n${Array.from({ length: 30 }, (_, row) => `${row},${(row * 31) % (i + 5)}`).join('\n')}\n`,
    );
    await importTable(app, file);
  }
  const { id } = await startRun(app, dataset, 5, 'First');
  await waitForState(app, id, 'completed');
  const tags = Array.from({ length: 20 }, (_, i) => `tag-${i}`);
  await callService(app, 'updateRun', { run: id, patch: { tags } });

  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const found = async (typed: string, name: RegExp): Promise<void> => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill(typed);
    await expect(palette.getByRole('option', { name }).first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(palette).toBeHidden();
  };
  await test.step('everywhere, grey with the reason where no run is open', async () => {
    await page.evaluate(() => (location.hash = '#help/run'));
    await expect(page.getByRole('heading', { name: 'Help', level: 1 })).toBeVisible();
    for (const typed of ['export', 'predict', 'rename', 'delete']) await found(typed, /Open a run first/);
    await found('theme', /Switch light and dark/);
    await found('stop', /Stop this run.*Open a run first/);
    await found('import', /Open file/);
    await found('zoom', /Larger text/);
    // Opened again in the very moment it goes, it stays.
    await page.keyboard.press('Control+k');
    await expect(palette).toBeVisible();
    await page.evaluate(() => {
      const watch = new MutationObserver(() => {
        if (document.querySelector('dialog[open]')) return;
        watch.disconnect();
        const keys = { key: 'k', ctrlKey: true, bubbles: true };
        document.body.dispatchEvent(new KeyboardEvent('keydown', keys));
      });
      watch.observe(document.body, { subtree: true, childList: true, attributes: true });
    });
    await page.keyboard.press('Escape');
    await drawn(page);
    await expect(palette).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(palette).toBeHidden();
    await page.evaluate(() => (document.title = 'before'));
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill('reload');
    await page.keyboard.press('Enter');
    await expect(page).not.toHaveTitle('before');
    await expect(page.getByRole('heading', { name: 'Help', level: 1 })).toBeVisible();
    await expect(page.locator('main')).toContainText(
      /Predict[\s\S]*Drop pictures[\s\S]*page of a finished run[\s\S]*Export as safetensors…/,
    );
  });

  await test.step('on the page of a run they work, and are those of its menu', async () => {
    await page.evaluate((run) => (location.hash = `#run/${run}`), id);
    await expect(page.getByRole('heading', { name: 'First' })).toBeVisible();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('rename');
    await palette.getByRole('option', { name: /Name, tags and notes/ }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('heading', { name: 'Renamed' })).toBeVisible();
    const log = page.getByRole('log');
    await expect(log).toContainText(
      /Trains on the CPU with one thread, as set[\s\S]*Epoch 1 of 5[\s\S]*Epoch 5 of 5[\s\S]*Time: preparing/,
    );
    await page.getByRole('button', { name: 'More for Renamed' }).click();
    await page.getByRole('menuitem', { name: 'Move to trash' }).click();
    await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible();
    await page.keyboard.press('Control+z');
    await expect(page.getByRole('link', { name: 'Renamed' })).toBeVisible();
  });

  await test.step('the filter offers every dataset and tag, and searches them', async () => {
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const menu = page.getByRole('menu', { name: 'Filter' });
    await expect(menu.getByRole('menuitemcheckbox')).toHaveCount(8 + 15 + 20);
    await screenshot(app, 'runs-filter');
    await page.keyboard.type('tag-19');
    await expect(menu.getByRole('menuitemcheckbox')).toHaveCount(1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Remove the filter #tag-19' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Renamed' })).toBeVisible();
  });
});

test('files that are over the window before it listens are seen with their next move, and gone when they leave', async ({
  app,
}) => {
  const { page } = app;
  const overlay = page.getByText('Drop to import', { exact: true });
  await page.getByRole('navigation').first().waitFor();
  // Without the event of entering, which nobody has heard.
  const tell = (type: 'dragover' | 'dragleave'): Promise<void> =>
    page.evaluate((name) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['a,b\n1,2\n'], 'small.csv'));
      document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
    }, type);
  await tell('dragover');
  await tell('dragover');
  await expect(overlay).toBeVisible();
  await tell('dragleave');
  await expect(overlay).toHaveCount(0);
});

test('steps of the editor are taken back and done again; every fix offered mends its layer', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: 'Small MLP' }).click();
  const first = page.getByRole('textbox', { name: 'Units of Dense 1' });
  await expect(first).toHaveValue('64');

  await test.step('Conv 2D after Dense: a reshape mends it, then its own error and the next one are mended', async () => {
    await first.click();
    await page.getByRole('button', { name: 'Add layer' }).click();
    await page.getByRole('menuitem', { name: 'Conv 2D', exact: true }).click();
    const start = page.getByRole('button', { name: 'Start', exact: true });
    await expect(start).toHaveAttribute('aria-disabled', 'true');
    const errors = page.locator('main').getByRole('alert');
    await expect(errors.first()).toContainText('Conv 2D needs images');
    await screenshot(app, 'new-run-fixes');
    await expect(errors.first().getByRole('button')).toHaveText(['Add Reshape to 1 × 8 × 8', 'Remove this layer']);
    await errors.first().getByRole('button', { name: 'Add Reshape to 1 × 8 × 8' }).click();
    await expect(errors.filter({ hasText: 'Conv 2D needs images' })).toHaveCount(0);
    await errors.first().getByRole('button', { name: 'Add Flatten' }).click();
    await expect(errors).toHaveCount(0);
    await expect(start).not.toHaveAttribute('aria-disabled', 'true');
  });

  await test.step('Ctrl Z takes it all back, Ctrl Shift Z and Ctrl Y do it again', async () => {
    const rows = page.getByRole('button', { name: /^Remove layer/ });
    await expect(rows).toHaveCount(5);
    await page.getByRole('heading', { name: 'Layers' }).click();
    for (const left of [4, 3, 2]) {
      await page.keyboard.press('Control+z');
      await expect(rows).toHaveCount(left);
    }
    await page.keyboard.press('Control+Shift+z');
    await expect(rows).toHaveCount(3);
    await page.keyboard.press('Control+y');
    await expect(rows).toHaveCount(4);
    for (let i = 0; i < 2; i++) await page.keyboard.press('Control+z');
    await expect(rows).toHaveCount(2);
  });

  await test.step('a text field has its own', async () => {
    await page.getByRole('button', { name: 'Remove layer 2, Dense' }).click();
    const name = page.getByRole('textbox', { name: 'Name of the run' });
    await name.click();
    await page.keyboard.type('x');
    await page.keyboard.press('Control+z');
    await expect(name).not.toHaveValue(/x$/);
    await expect(page.getByRole('button', { name: /^Remove layer/ })).toHaveCount(1);
  });

  await test.step('Check finds a rate that is too high; what it advises is made and checked again, and no run is kept', async () => {
    const rate = page.getByRole('textbox', { name: 'Learning rate' });
    await rate.fill('10');
    await rate.press('Tab');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    const verdict = page.getByRole('status').filter({ hasText: /to fix first|to look at|Nothing found/ });
    await expect(verdict).toContainText('This run would most likely fail', { timeout: 60_000 });
    const findings = page.getByRole('region', { name: 'Findings' }).getByRole('listitem');
    await expect(findings).toHaveCount(8);
    await expect(page.getByRole('region', { name: 'Gradients by layer' })).toBeVisible();
    await findings.first().focus();
    await page.keyboard.press('ArrowDown');
    await expect(findings.nth(1)).toBeFocused();
    await screenshot(app, 'new-run-check');
    await page.getByRole('button', { name: /^Make \d changes? and check again$/ }).click();
    await page.getByRole('button', { name: 'Back to the model' }).click();
    await expect(rate).not.toHaveValue('10');
    expect(await callService<{ total: number }>(app, 'runs', { limit: 1 })).toMatchObject({ total: 0 });
  });
});

test('what is out of its limits is said at its field and keeps the run from starting, by keyboard too', async ({
  app,
}) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: 'Small MLP' }).click();
  const start = page.getByRole('button', { name: 'Start', exact: true });
  const refuses = async (name: string | RegExp, value: string, description: RegExp): Promise<void> => {
    const field = page.getByRole('textbox', { name });
    const before = await field.inputValue();
    await field.fill(value);
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(field).toHaveAccessibleDescription(description);
    await expect(start).toHaveAttribute('title', description);
    await field.press('Control+Enter');
    await start.press('Enter');
    await expect(page).toHaveURL(/#new/);
    await field.fill(before);
    await expect(start).not.toHaveAttribute('aria-disabled', 'true');
  };
  await refuses('Be done by', '25:00', /no time/i);
  await refuses('Batch size', '0', /a whole number from 1 to 1000000/i);
  await refuses('Units of Dense 1', '1.5', /a whole number from 1 to/i);
  await page.getByRole('combobox', { name: 'Activation of Dense 1' }).selectOption('Leaky ReLU');
  await refuses('Negative slope of Dense 1', '2', /a number from 0 to 1/i);
  await page.getByRole('checkbox', { name: 'Bias' }).uncheck();
  await page.getByRole('combobox', { name: 'Activation of Dense 1' }).selectOption('ReLU');
  await expect(page.getByRole('textbox', { name: 'Negative slope of Dense 1' })).toHaveCount(0);
  await refuses(/^CPU threads/, '-1', /a whole number from 0 to/i);
  await page.getByRole('button', { name: 'Advanced' }).click();
  await refuses('Label smoothing', '1', /a number from 0 to 0\.99/i);
  await page.getByRole('textbox', { name: 'Label smoothing' }).fill('1');
  await page.getByRole('button', { name: 'Advanced' }).click();
  await expect(start).not.toHaveAttribute('aria-disabled', 'true');
  await page.getByRole('button', { name: /^Linear model/ }).click();
  await refuses('Penalty', '-1', /a number from 0 to 1000000000/i);
  expect((await callService<{ readonly runs: readonly unknown[] }>(app, 'runs', {})).runs).toEqual([]);
});

sharing('a run of a preset that is no longer offered has its name, and is run again', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  const config = { ...runConfig(dataset, 2), model: mlp([], { preset: 'linear' }) };
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'Old', config });
  await waitForState(app, id, 'completed');
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  await expect(page.getByRole('heading', { level: 1, name: 'Old' })).toBeVisible();
  await expect(page.getByText('Linear network').first()).toBeVisible();
  await page.getByRole('button', { name: 'Run again with changes' }).click();
  await expect(page.getByRole('row', { name: /^Total/ })).toContainText(/8.FLOP a row/);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Old-again' })).toBeVisible();
  await waitForState(app, id + 1, 'completed');
});

sharing(
  'a member of a best of all is run again on the rows of the whole, and has nothing to go on with',
  async ({ app }) => {
    const { page } = app;
    const dataset = await importTable(app, writeTable(app.home, 400));
    const config = runConfig(dataset, 2);
    const store = createStore(app.home);
    const called = newRun({ dataset: dataset.id });
    const { id: whole } = await store.createRun({ ...called, name: 'Whole', config: { ...config, seed: 3 } });
    const family = { parent: whole, relation: 'member', start: { member: 0 } } as const;
    const member = await store.createRun({ ...called, name: 'Drawn', config: { ...config, seed: 791_903 }, family });
    for (const run of [whole, member.id]) {
      await store.updateRun({ run, patch: { state: 'completed', startedAt: 1, endedAt: 2 } });
    }
    await store.close();
    await page.evaluate((run) => (location.hash = `#run/${run}/files`), member.id);
    await expect(page.getByText(`It is a member of run ${whole}: it has a model for each fold`)).toBeVisible();
    await page.getByRole('button', { name: 'Run again with changes' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Drawn-again' })).toBeVisible();
    const again = await waitForState(app, member.id + 1, 'completed');
    expect(again.config.seed).toBe(3);
  },
);
