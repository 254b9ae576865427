// Names that hold characters nobody sees, or that turn the direction of writing: whatever view shows them writes them out.

import fs from 'node:fs';
import path from 'node:path';
import { visible } from '../../engine/protocol/visible.ts';
import { callService, chooseNext, expect, screenshot, testsOfOneApp, type App } from './launch.ts';
import { importTable, oneAtATime, startRun, waitForState } from './scene.ts';

const test = testsOfOneApp();

/** A column, its values, the target and its classes, each with a character of its own that cannot be seen. */
function writeOddTable(folder: string): string {
  const lines = Array.from({ length: 300 }, (_, row) => {
    const [x, y] = [(row * 37) % 101, (row * 53) % 97];
    const kind = ['p\u200bq', 'r\u202es', 'plain'][row % 3];
    return `${x},${y},${kind},${x + y > 120 ? 'yes\u202e' : x > y ? 'no\u200b' : 'may\u2060be'}`;
  });
  const file = path.join(folder, 'odd\u200bnames.csv');
  fs.writeFileSync(file, ['wi\u202edth,hei\u200bght,ki\u2066nd,si\u200bde', ...lines].join('\n') + '\n');
  return file;
}

/** Texts, titles and labels of the page with a character in them that is not seen. */
const hidden = async ({ page }: App): Promise<readonly string[]> => {
  const all = await page.evaluate(() => {
    const texts = document.body.innerText.split('\n');
    const told = [...document.querySelectorAll('body *')].flatMap((element) =>
      [element.getAttribute('title'), element.getAttribute('aria-label'), element.closest('svg') && element.textContent]
        .filter((text) => text !== null)
        .flatMap((text) => text.split('\n')),
    );
    return [...new Set([...texts, ...told])].map((text) => text.replaceAll('\t', ' '));
  });
  return all.filter((text) => visible(text) !== text).map(visible);
};

test('no view shows a name with characters in it that cannot be seen', async ({ app }) => {
  const { page } = app;
  const file = writeOddTable(app.home);
  const dataset = await importTable(app, file);
  const first = await startRun(app, dataset, 10, 'one\u200brun');
  const second = await startRun(app, dataset, 12, 'other\u202erun');
  await waitForState(app, first.id, 'completed');
  await waitForState(app, second.id, 'completed');
  const open = async (address: string): Promise<void> => {
    await page.evaluate((hash) => (location.hash = hash), address);
  };

  await open(`#run/${first.id}`);
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible();
  expect.soft(await hidden(app)).toEqual([]);

  await open(`#run/${first.id}/evaluation`);
  await expect(page.getByRole('region', { name: 'Worst rows', exact: true })).toBeVisible({ timeout: 30_000 });
  expect.soft(await hidden(app)).toEqual([]);

  await open(`#run/${first.id}/explain`);
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Why this row', exact: true }).locator('td').first()).toBeVisible({
    timeout: 30_000,
  });
  expect.soft(await hidden(app)).toEqual([]);

  await open(`#run/${first.id}/predict`);
  await expect(page.getByText('Drop a table with these 3 columns.')).toBeVisible();
  await expect(page.getByText('wi\\u202edth, hei\\u200bght, ki\\u2066nd')).toBeVisible();
  expect.soft(await hidden(app)).toEqual([]);
  await chooseNext(app, file);
  await page.getByRole('button', { name: 'Choose file…' }).first().click();
  await expect(
    page.getByRole('table', { name: 'Predicted rows', exact: true }).getByText('p\\u200bq').first(),
  ).toBeVisible({
    timeout: 30_000,
  });
  await screenshot(app, 'odd-names-predict');
  expect.soft(await hidden(app)).toEqual([]);

  await open(`#compare/${first.id},${second.id}`);
  await page.getByRole('button', { name: 'Test B against A on the same rows' }).click();
  await expect(page.getByText(/McNemar/)).toBeVisible({ timeout: 30_000 });
  await screenshot(app, 'odd-names-compare');
  expect.soft(await hidden(app)).toEqual([]);

  // While one trains and one waits they stand in the sidebar, in the list of runs and in the queue.
  await oneAtATime(app);
  const training = await startRun(app, dataset, 100_000, 'long\u200brun');
  const waiting = await startRun(app, dataset, 1, 'later\u202erun');
  await waitForState(app, training.id, 'running');
  for (const view of ['#queue', '#runs']) {
    await open(view);
    await expect(page.getByRole('main').getByText('later\\u202erun').first()).toBeVisible();
    expect.soft(await hidden(app)).toEqual([]);
  }
  for (const { id } of [waiting, training]) await callService(app, 'stopRun', { run: id });
  await waitForState(app, training.id, 'stopped');
});
