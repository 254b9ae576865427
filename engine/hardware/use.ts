// How much a machine is used, from the bills of its runs.

import type { BilledRun } from '../protocol/bill.ts';

const week = 7 * 24 * 3600 * 1000;
export const weeksShown = 24;
/** Weeks that count for the mean. */
export const weeksCounted = 12;

export interface Use {
  /** Hours of each of the last weeks, the oldest first; the last one ends now. */
  readonly weeks: readonly number[];
  /** When each week begins, milliseconds since 1970. */
  readonly begins: readonly number[];
  /** Mean of the weeks since the first run, twelve at most; null = no run. */
  readonly perWeek: number | null;
  /** Weeks the mean is of. */
  readonly counted: number;
  readonly runs: number;
}

/** Hours by week, counted back from now: a run counts where it began, one in the trash too. */
export function useOf(runs: readonly Pick<BilledRun, 'startedAt' | 'secondsElapsed'>[], now: number): Use {
  const weeks = Array.from({ length: weeksShown }, () => 0);
  const begins = weeks.map((_, index) => now - (weeksShown - index) * week);
  let [count, first] = [0, now];
  for (const { startedAt, secondsElapsed } of runs) {
    const at = weeksShown - 1 - Math.floor((now - startedAt) / week);
    if (at < 0 || at >= weeksShown) continue;
    weeks[at] += secondsElapsed / 3600;
    count++;
    first = Math.min(first, startedAt);
  }
  const counted = Math.min(weeksCounted, Math.max(1, Math.ceil((now - first) / week)));
  const sum = weeks.slice(-counted).reduce((total, hours) => total + hours, 0);
  return { weeks, begins, perWeek: count === 0 ? null : sum / counted, counted, runs: count };
}

/** Mean hours a week; undefined: no run in the weeks shown. */
export const hoursPerWeek = (runs: Parameters<typeof useOf>[0], now: number): number | undefined =>
  useOf(runs, now).perWeek ?? undefined;

/** Hours a week assumed where there are no runs. */
export const assumedUse = 5;
const leastUse = 1;

/** Whether there are runs, and so few that they may say little of what is to come. */
export const isSeldom = (use: Use | null): boolean => use !== null && use.perWeek !== null && use.perWeek < leastUse;

/** Hours a week to reckon with: the person's own, however few, at least what a slider can show; without any run those assumed. */
export const ownHours = (use: Use | null): number =>
  use === null || use.perWeek === null ? assumedUse : Math.min(168, Math.max(0.1, Math.round(10 * use.perWeek) / 10));

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
