// The window on a history at full size: the table of runs opened, sorted, filtered and scrolled, the curves of twenty runs overlaid.
// Times are the page's own, from the press to the frame in which the answer stands; processor time is that of the app's
// processes meanwhile, which tells more on a machine that others use too.

import type { Locator, Page } from '@playwright/test';
import { drawn, type App } from './launch.ts';
import { blocked, processorTime, tell, watchLongTasks, type Times } from './window-times.ts';

/** Milliseconds that were promised. */
const limits = { table: 200, sort: 100, filter: 100, overlay: 300 } as const;
const overlaid = 20;

/** What stands in the page once an action has its answer: text of the first row of the table, or of every chart. */
interface Answer {
  readonly of: string;
  readonly reads: RegExp;
  readonly not?: string;
}

const firstRow = '[role=grid] [role=row][aria-rowindex="2"]';

/** Milliseconds from the press, letter or address of an action until the frame in which its answer stands. */
async function timeUntil(page: Page, { of, reads, not = '' }: Answer, act: () => Promise<void>): Promise<number> {
  const seen = page.evaluate(
    ({ selector, source, before }) => {
      const started = { at: performance.now() };
      for (const type of ['pointerdown', 'input', 'hashchange'])
        addEventListener(type, () => (started.at = performance.now()), { capture: true, once: true });
      const wanted = new RegExp(source);
      return new Promise<number>((resolve) => {
        const look = (): void => {
          const found = [...document.querySelectorAll(selector)].map(
            (element) => element.getAttribute('aria-valuetext') ?? element.textContent ?? '',
          );
          const there = found.length > 0 && found.every((text) => wanted.test(text) && text !== before);
          if (there) resolve(performance.now() - started.at);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
    },
    { selector: of, source: reads.source, before: not },
  );
  await act();
  return seen;
}

/** Where an element is: looking for it by its role is work in the page, which is not to be counted. */
export async function middleOf(element: Locator): Promise<readonly [number, number]> {
  const box = await element.boundingBox();
  if (!box) throw new Error('What is to be pressed is not on show.');
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Does something some times over, beginning anew each time. */
export async function measure(
  app: App,
  rounds: number,
  { before, answer, act }: { before: () => Promise<void>; answer: () => Promise<Answer>; act: () => Promise<void> },
): Promise<Times> {
  const root = app.electron.process().pid ?? 0;
  const measured = { clock: [] as number[], answering: [] as number[], drawing: [] as number[] };
  // The first one is for warmth.
  for (let round = 0; round <= rounds; round++) {
    await before();
    await drawn(app.page);
    const wanted = await answer();
    const spent = processorTime(root);
    const clock = await timeUntil(app.page, wanted, act);
    if (round === 0) continue;
    measured.clock.push(clock);
    const { answering, drawing } = processorTime(root);
    measured.answering.push(answering - spent.answering);
    measured.drawing.push(drawing - spent.drawing);
  }
  return measured;
}

export async function timeRuns(app: App, count: number, rounds: number): Promise<void> {
  const { page } = app;
  const longest = await watchLongTasks(page);
  const newest = new RegExp(`Run ${count} `);
  const goTo = (address: string): Promise<void> => page.evaluate((hash) => void (location.hash = hash), address);
  const rest = async (): Promise<void> => {
    await goTo('#settings');
    await drawn(page);
  };
  const atRuns = async (): Promise<void> => {
    await goTo('#runs');
    const search = page.getByRole('searchbox', { name: 'Search runs' });
    await search.fill('');
    await page
      .locator(firstRow)
      .filter({ hasText: /Run \d/ })
      .waitFor();
  };
  const changed = async (): Promise<Answer> => ({
    of: firstRow,
    reads: /Run \d/,
    not: (await page.locator(firstRow).textContent()) ?? '',
  });
  const search = page.getByRole('searchbox', { name: 'Search runs' });

  const link = await middleOf(page.getByRole('link', { name: 'Runs' }));
  const open = await measure(app, rounds, {
    before: rest,
    answer: async () => ({ of: firstRow, reads: newest }),
    act: () => page.mouse.click(...link),
  });
  tell(`${count} runs: open the table`, open, limits.table);
  await atRuns();
  const header = await middleOf(page.getByRole('columnheader', { name: /Best accuracy/ }).getByRole('button'));
  const sort = await measure(app, rounds, {
    before: atRuns,
    answer: changed,
    act: () => page.mouse.click(...header),
  });
  tell(`${count} runs: sort by a score`, sort, limits.sort);
  const filter = await measure(app, rounds, {
    before: async () => {
      await atRuns();
      await page.locator(firstRow).filter({ hasNotText: 'Run 9876 ' }).waitFor();
      await search.focus();
    },
    answer: async () => ({ of: firstRow, reads: /Run 9876 / }),
    act: () => page.keyboard.insertText('run 9876'),
  });
  tell(`${count} runs: search`, filter, limits.filter);
  tell(`${count} runs: longest task`, { clock: [await longest()] }, blocked);

  await atRuns();
  await page.getByRole('grid', { name: 'Runs' }).hover();
  for (let i = 0; i < 30; i++) {
    await page.mouse.wheel(0, 1000 + 400 * i);
    await drawn(page);
  }
  tell(`${count} runs: longest task in scrolling`, { clock: [await longest()] }, blocked);

  const ids = Array.from({ length: overlaid }, (_, i) => count - 37 * i).join(',');
  const overlay = await measure(app, rounds, {
    before: async () => {
      await goTo(`#compare/${ids}`);
      await page.getByText('Curves', { exact: true }).waitFor();
      await rest();
    },
    answer: async () => ({ of: '[role=slider][aria-label$=" chart"]', reads: /\d/ }),
    act: () => goTo(`#compare/${ids}?show=curves`),
  });
  tell(`${overlaid} runs overlaid`, overlay, limits.overlay);
  tell(`${overlaid} runs overlaid: longest task`, { clock: [await longest()] }, blocked);
}
