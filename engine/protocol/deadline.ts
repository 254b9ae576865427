// Runs that are to be done by a time, in words.

import { InputError } from './errors.ts';
import type { DoneByThen } from './queue.ts';
import type { DeadlineResult } from './runs.ts';
import { dueText, timeText } from './words.ts';

/** Runs named one by one. */
const mostNamed = 6;

interface Unit {
  readonly one: string;
  readonly many: string;
}

const countText = (count: number): string =>
  count < 10 ? count.toFixed(1).replace(/\.0$/, '') : Math.round(count).toLocaleString('en');

/** `Done 8 min 0 s before 07:00: 398 epochs, annealed; 412 planned at first`. `unit`: what it counts its way by. */
export function deadlineText(deadline: DeadlineResult, unit: Unit = { one: 'epoch', many: 'epochs' }): string {
  const { until, planned, epochs, ended, annealed, enough } = deadline;
  const early = until - ended;
  const when = `${timeText(Math.abs(early))} ${early >= 0 ? 'before' : 'after'} ${dueText(until, ended)}`;
  const end = annealed === undefined ? '' : annealed ? ', annealed' : ', not annealed to the end';
  const done = `Done ${when}: ${countText(epochs)} ${epochs === 1 ? unit.one : unit.many}${end}`;
  if (enough !== undefined) return `${done}; more brought nothing after ${unit.one} ${countText(enough)}`;
  return planned === undefined || countText(planned) === countText(epochs)
    ? done
    : `${done}; ${countText(planned)} planned at first`;
}

/** Seconds that a run has left by its speed: no more than there are until it is to be done, which its plan keeps to. Null: not known. */
export function leftInTime(seconds: number | null, until: number | undefined, now: number): number | null {
  return seconds === null || until === undefined ? seconds : Math.min(seconds, Math.max(0, (until - now) / 1000));
}

/** A run that begins when it should be done. */
export const pastDeadline = (until: number, now: number): InputError =>
  new InputError(
    'input.deadline',
    `The run was to be done by ${dueText(until, now)}, and that had passed before it began.`,
    'Start it over: it trains without a time then, or with another one that you name.',
  );

/** `By 07:00, by the forecasts: 5 of 7 are done; not run 12, 14`. */
export function doneByText({ done, late, unknown }: DoneByThen, by: number, now: number): string {
  const all = done.length + late.length + unknown.length;
  const runs = (what: string, of: readonly number[]): string =>
    of.length === 0 ? '' : `; ${what} ${of.length > mostNamed ? countText(of.length) : `run ${of.join(', ')}`}`;
  const many = done.length === all ? 'all of them' : `${countText(done.length)} of ${countText(all)}`;
  return `Done by ${dueText(by, now)}, by the forecasts: ${many}${runs('not', late)}${runs('nobody knows of', unknown)}.`;
}
