// Runs that are to be done by a time, in words.

import type { DeadlineResult } from './runs.ts';
import { clockText, timeText } from './words.ts';

const epochsText = (epochs: number): string =>
  epochs < 10 ? epochs.toFixed(1).replace(/\.0$/, '') : Math.round(epochs).toLocaleString('en');

/** `Done 8 min 0 s before 07:00: 398 epochs, annealed; 412 planned at first`. */
export function deadlineText({ until, planned, epochs, ended, annealed }: DeadlineResult): string {
  const early = until - ended;
  const when = `${timeText(Math.abs(early))} ${early >= 0 ? 'before' : 'after'} ${clockText(until)}`;
  const first = epochsText(planned) === epochsText(epochs) ? '' : `; ${epochsText(planned)} planned at first`;
  const end = annealed ? 'annealed' : 'not annealed to the end';
  return `Done ${when}: ${epochsText(epochs)} ${epochs === 1 ? 'epoch' : 'epochs'}, ${end}${first}`;
}
