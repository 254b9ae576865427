// How much a machine is used, from the bills of its runs.

import type { BilledRun } from '../protocol/runs.ts';

const week = 7 * 24 * 3600 * 1000;
/** Weeks that count. */
const counted = 12;

/** Hours of training a week in the weeks since the first run, twelve at most; undefined: no run in them. */
export function hoursPerWeek(
  runs: readonly Pick<BilledRun, 'startedAt' | 'secondsElapsed'>[],
  now: number,
): number | undefined {
  const recent = runs.filter(({ startedAt }) => startedAt <= now && startedAt > now - counted * week);
  if (recent.length === 0) return undefined;
  const first = Math.min(...recent.map(({ startedAt }) => startedAt));
  const weeks = Math.max(1, Math.ceil((now - first) / week));
  return recent.reduce((sum, { secondsElapsed }) => sum + secondsElapsed, 0) / 3600 / weeks;
}

export interface Month {
  /** `2026-11`; local time. */
  readonly month: string;
  readonly runs: readonly BilledRun[];
}

/** By the month they began in, the first one first. */
export function byMonth(runs: readonly BilledRun[]): readonly Month[] {
  const months = new Map<string, BilledRun[]>();
  for (const run of runs) {
    const began = new Date(run.startedAt);
    const month = `${began.getFullYear()}-${String(began.getMonth() + 1).padStart(2, '0')}`;
    const list = months.get(month) ?? [];
    list.push(run);
    months.set(month, list);
  }
  return [...months].map(([month, list]) => ({ month, runs: list }));
}

export const secondsOf = (runs: readonly BilledRun[]): number =>
  runs.reduce((sum, { secondsElapsed }) => sum + secondsElapsed, 0);
