// The queue of a home in which a thousand runs wait: its page is opened.

import { drawn, type App } from './launch.ts';
import { measure, middleOf } from './window-runs.ts';
import { tell } from './window-times.ts';

/** Milliseconds that were promised. */
const limit = 200;

export async function timeQueue(app: App, count: number, rounds: number): Promise<void> {
  const { page } = app;
  const link = await middleOf(page.getByRole('link', { name: /^Queue/ }));
  const open = await measure(app, rounds, {
    before: async () => {
      await page.evaluate(() => void (location.hash = '#settings'));
      await drawn(page);
    },
    answer: async () => ({ of: '[role=listbox] [role=option][aria-posinset="1"]', reads: /waiting 1 / }),
    act: () => page.mouse.click(...link),
  });
  tell(`${count} waiting runs: open the queue`, open, limit);
}
