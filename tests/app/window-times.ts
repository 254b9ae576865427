// How times of the window are taken and told.

import type { Page } from '@playwright/test';
import { familyOf } from '../support/processes.ts';

/** Milliseconds that the window's thread may be busy at a stretch. */
export const blocked = 100;

/** Milliseconds of some rounds. */
export interface Times {
  readonly clock: readonly number[];
  /** Of the app's processes: of those that find and lay out the answer, and of the one that draws it, here in software. */
  readonly answering?: readonly number[];
  readonly drawing?: readonly number[];
}

/** A line with the median beside its limit; the process ends with 1 where it is above it. */
export function tell(what: string, { clock, answering = [], drawing = [] }: Times, limit: number): void {
  const [least, middle, most] = spread(clock);
  const work =
    answering.length > 0 ? `, processor time ${spread(answering)[1]} ms and ${spread(drawing)[1]} ms of drawing` : '';
  console.log(
    `${what.padEnd(40)} median ${middle} ms, ${least} to ${most}${work}; limit ${limit}${middle > limit ? ': TOO LONG' : ''}`,
  );
  if (middle > limit) process.exitCode = 1;
}

function spread(times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]].map(Math.round);
}

/** Lengths of the page's long tasks from now on; call the result to read and reset the longest. */
export async function watchLongTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(globalThis, { longTasks: lengths });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) lengths.push(entry.duration);
    }).observe({ entryTypes: ['longtask'] });
  });
  return () =>
    page.evaluate(() => Math.max(0, ...(globalThis as unknown as { longTasks: number[] }).longTasks.splice(0)));
}

/** Processor time of a process and of all that it has started, in milliseconds; nothing where the system does not say it this way. */
export function processorTime(root: number): { readonly answering: number; readonly drawing: number } {
  const family = familyOf(root);
  const sum = (drawing: boolean): number =>
    family.reduce((total, { kind, processor }) => total + ((kind === 'gpu-process') === drawing ? processor : 0), 0);
  return { answering: sum(false), drawing: sum(true) };
}
