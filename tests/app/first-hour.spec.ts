// The first hour in the real window: samples that say what they are for, a tour that never stands in the way, Help on what is in view, and
// what failed shown on the About page.

import fs from 'node:fs';
import path from 'node:path';
import { violations } from './axe.ts';
import { chooseFromMenu, expect, saveNextAs, screenshot, test } from './launch.ts';

test('samples, the tour from one to a prediction, and Help on the view it ends in', async ({ app }) => {
  test.setTimeout(120_000);
  const { page } = app;
  const tour = page.getByRole('region', { name: 'Tour', exact: true });
  const at = (step: number, title: string) =>
    expect(tour.getByRole('heading')).toHaveText(`${step} of 6 ${title}`, { timeout: 20_000 });

  await test.step('six samples, each with what it teaches and whose it is', async () => {
    await expect(page.getByRole('button', { name: /^Look at it: / })).toHaveCount(6);
    await expect(page.getByText(/\(CC0\)$|, CC0$/)).toHaveCount(6);
  });

  await test.step('Escape leaves the tour, and it can be begun again', async () => {
    await page.getByRole('button', { name: 'Take the tour' }).click();
    await at(1, 'Bring in data');
    await page.keyboard.press('Escape');
    await expect(tour).toBeHidden();
    await page.getByRole('button', { name: 'Take the tour' }).click();
  });

  await test.step('six steps lead to a prediction, by its button or by the controls of the app', async () => {
    await tour.getByRole('button', { name: 'Bring in the penguins' }).click();
    await at(2, 'Look at it');
    expect(await violations(page)).toEqual([]);
    await tour.getByRole('button', { name: 'Back' }).click();
    await at(1, 'Bring in data');
    await page.getByRole('button', { name: 'Look at it: Flats to let' }).click();
    await at(2, 'Look at it');
    // It goes on with what is in view, were it not the first that was chosen.
    await page.evaluate(() => (location.hash = '#welcome'));
    await page.getByRole('button', { name: 'Look at it: Palmer penguins' }).click();
    // Not the “Palmer penguins” of the samples, which are in view before.
    await expect(page.getByRole('heading', { level: 1, name: 'penguins', exact: true })).toBeVisible();
    await tour.getByRole('button', { name: 'On to a model' }).click();
    await expect(page.getByRole('textbox', { name: 'Name of the run' })).toHaveValue(/penguins/);
    await at(3, 'Choose a model');
    await page.evaluate(() => (location.hash = '#queue'));
    await page.getByRole('button', { name: 'Pause queue' }).click();
    await tour.getByRole('button', { name: 'Start a network' }).click();
    await at(4, 'Watch it learn');
    await expect(tour.getByText('This run waits for its turn: Queue shows for what.')).toBeVisible();
    await expect(tour.getByRole('button', { name: 'Judge it' })).toBeDisabled();
    await page.evaluate(() => (location.hash = '#queue'));
    await page.getByRole('button', { name: 'Resume queue' }).click();
    await page.goBack();
    await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 60_000 });
    await screenshot(app, 'tour');
    await tour.getByRole('button', { name: 'Judge it' }).click();
    await at(5, 'Judge it');
    await test.step('where writing runs from right to left, drawings keep their words', async () => {
      await expect(page.locator('main svg text').first()).toBeVisible();
      const outside = await page.evaluate(() => {
        document.documentElement.dir = 'rtl';
        const found = [...document.querySelectorAll('main svg text')].filter((text) => {
          const [box, frame] = [text, text.closest('svg')!].map((each) => each.getBoundingClientRect());
          return box.left < frame.left - 4 || box.right > frame.right + 4;
        });
        document.documentElement.removeAttribute('dir');
        return found.map(({ textContent }) => textContent);
      });
      expect(outside).toEqual([]);
    });
    await tour.getByRole('button', { name: 'Use it' }).click();
    await at(6, 'Use it');
    await tour.getByRole('button', { name: 'Done' }).click();
    await expect(tour).toBeHidden();
  });

  await test.step('F1 opens Help at the tab in view; its pages are searched by keyboard', async () => {
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await page.keyboard.press('?');
    await expect(sheet).toBeVisible();
    await page.keyboard.press('F1');
    await expect(page.getByRole('heading', { level: 2, name: 'A run' })).toBeVisible();
    await expect(sheet).toBeHidden();
    await page.keyboard.press('Alt+ArrowLeft');
    await expect(page).toHaveURL(/#run\/\d+\/predict$/);
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('combobox', { name: 'Search or run a command' })).toBeFocused();
    await page.keyboard.press('F1');
    await expect(page.getByRole('dialog')).toBeHidden();
    await expect(page.getByRole('heading', { level: 3, name: 'Predict' })).toBeFocused();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('nesterof');
    await page.getByRole('button', { name: 'Did you mean “nesterov”?' }).click();
    await expect(page.getByText(/^\d found$/)).toBeVisible();
    await page.getByRole('link', { name: /^Settings of training: Network/ }).press('Enter');
    await expect(page.getByRole('term').filter({ hasText: 'Nesterov' }).first()).toBeVisible();
    await page.getByRole('searchbox', { name: 'Search Help' }).fill('');
    await page.getByRole('link', { name: 'From data to predictions' }).click();
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'help');
    await page.getByRole('button', { name: 'Take the tour' }).click();
    await at(1, 'Bring in data');
  });

  await test.step('a failure of the page is kept, told by the next start, shown and deleted', async () => {
    await page.keyboard.press('Escape');
    // What the browser notes without an error, such as sizes that are told a frame later, is none.
    await page.evaluate(() => {
      const box = document.body.appendChild(document.createElement('div'));
      new ResizeObserver(() => (box.style.height = `${box.offsetHeight + 1}px`)).observe(box);
      return new Promise<void>((resolve) => {
        addEventListener('error', () => (box.remove(), resolve()), { once: true });
      });
    });
    await page.evaluate(() =>
      setTimeout(() => {
        throw new RangeError('a fault of its own');
      }),
    );
    const reports = path.join(app.home, 'crashes');
    await expect
      .poll(() => fs.existsSync(reports) && fs.readdirSync(reports).filter((file) => file.endsWith('.json')))
      .toHaveLength(1);
    await chooseFromMenu(app, 'View', 'Reload');
    await page.getByRole('link', { name: '1 failure noted: look at it' }).click();
    await page.getByText('RangeError: a fault of its own').click();
    await page.getByRole('button', { name: 'Show diagnostics' }).click();
    const shown = page.getByLabel('Diagnostics', { exact: true });
    await expect(shown).toContainText('window, RangeError');
    await expect(shown).not.toContainText(/a fault of its own|penguins|\/tmp/);
    expect(await violations(page)).toEqual([]);
    await screenshot(app, 'about');
    const file = path.join(app.home, 'for-a-bug-report.txt');
    await saveNextAs(app, file);
    await page.getByRole('button', { name: 'Save as…' }).click();
    await expect(page.getByText('Saved as for-a-bug-report.txt')).toBeVisible();
    expect(fs.readFileSync(file, 'utf8')).toBe(await shown.textContent());
    await page.getByRole('button', { name: 'Delete all' }).click();
    await expect(page.getByText('Nothing so far.')).toBeVisible();
    expect(fs.readdirSync(reports).filter((name) => name.endsWith('.json'))).toEqual([]);
  });
});

test('a sample with a column that gives its target away says so where its perfect scores stand', async ({ app }) => {
  const { page } = app;
  await page.getByRole('button', { name: 'Train on this: Customers who left' }).click();
  await expect(
    page.getByText(/^Warning: closed_on gives churned away: .* And 1 more thing of that kind\./),
  ).toBeVisible();
  // A run that goes on would be asked about when the window closes.
  await expect(page.getByText('Completed', { exact: true })).toBeVisible({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Look at the data' }).click();
  await expect(page.getByText(/things to look at$/)).toBeVisible();
});
