// Hours of training a week, from the runs of the history.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';

const week = 7 * 24 * 3600 * 1000;
export const weeksShown = 24;
/** Weeks that count for the mean. */
export const weeksCounted = 12;
const page = 500;

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

/** Hours by week, counted back from now: a run counts where it ended. */
export function useOf(runs: readonly Pick<RunRecord, 'endedAt' | 'progress'>[], now: number): Use {
  const weeks = Array.from({ length: weeksShown }, () => 0);
  const begins = weeks.map((_, index) => now - (weeksShown - index) * week);
  let [count, first] = [0, now];
  for (const { endedAt, progress } of runs) {
    if (endedAt === null || progress === null) continue;
    const at = weeksShown - 1 - Math.floor((now - endedAt) / week);
    if (at < 0 || at >= weeksShown) continue;
    weeks[at] += progress.secondsElapsed / 3600;
    count++;
    first = Math.min(first, endedAt);
  }
  const counted = Math.min(weeksCounted, Math.max(1, Math.ceil((now - first) / week)));
  const sum = weeks.slice(-counted).reduce((total, hours) => total + hours, 0);
  return { weeks, begins, perWeek: count === 0 ? null : sum / counted, counted, runs: count };
}

/** Hours a week assumed where there are no runs, or so few that they say nothing of what is to come. */
export const assumedUse = 5;
const leastUse = 1;

/** Whether the runs say how much is used. */
export const saysUse = (use: Use | null): boolean => use !== null && use.perWeek !== null && use.perWeek >= leastUse;

/** Hours a week to reckon with. */
export const usualHours = (use: Use | null): number =>
  saysUse(use) ? Math.min(168, Math.round(10 * use!.perWeek!) / 10) : assumedUse;

/** The finished runs of the last half year. */
export async function readUse(service: AppService, now: number): Promise<Use> {
  const found: RunRecord[] = [];
  for (let offset = 0; ; offset += page) {
    const { runs } = await service.runs({
      states: ['completed', 'stopped', 'diverged', 'failed', 'interrupted'],
      sort: { by: 'endedAt', descending: true },
      offset,
      limit: page,
    });
    found.push(...runs);
    const oldest = runs.at(-1)?.endedAt ?? 0;
    if (runs.length < page || oldest < now - weeksShown * week) return useOf(found, now);
  }
}
