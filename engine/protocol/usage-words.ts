// What the parts of a home are called, for the command line and the window alike.

import type { UsageId, UsagePart } from './keeping.ts';

export const usageWords: Readonly<Record<UsageId, string>> = {
  history: 'Settings and curves',
  logs: 'Logs',
  free: 'Gaps in the history',
  weights: 'Models and results',
  checkpoints: 'Checkpoints',
  trash: 'Trash',
  datasets: 'Datasets',
  backups: 'Daily backups',
  set_aside: 'Set aside for safety',
  other: 'Window and caches',
};

/** What gives the room back: a flag of `trainyard home`. */
export const freedBy: Readonly<Partial<Record<UsageId, 'compact' | 'empty-trash' | 'drop-set-aside'>>> = {
  free: 'compact',
  trash: 'empty-trash',
  set_aside: 'drop-set-aside',
};

const nouns: Readonly<Partial<Record<UsageId, readonly [one: string, many: string]>>> = {
  history: ['run', 'runs'],
  logs: ['line', 'lines'],
  weights: ['run', 'runs'],
  checkpoints: ['run', 'runs'],
  trash: ['run', 'runs'],
  datasets: ['dataset', 'datasets'],
  backups: ['copy', 'copies'],
};

/** `12 runs`; of the trash also how long it keeps them. */
export function usageNote({ id, count }: UsagePart, trashDays: number): string {
  const noun = nouns[id];
  const counted = noun === undefined || count === 0 ? '' : `${count.toLocaleString('en')} ${noun[count === 1 ? 0 : 1]}`;
  return id === 'trash' && count > 0 ? `${counted}, each removed after ${trashDays} days` : counted;
}
