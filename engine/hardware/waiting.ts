// What runs have waited for, from their bills: facts for advice. A faster device waits as long for the same rows and the same disk.

import type { BilledRun, PhaseSeconds } from '../protocol/bill.ts';

const week = 7 * 24 * 3600 * 1000;
/** Weeks that count: what was slow last year has been mended, or the data is another. */
const weeksCounted = 12;
/** Seconds of training below which shares say nothing. */
const leastSeconds = 10;

export interface Waiting {
  /** Runs it is read from. */
  readonly runs: number;
  /** Share of training and its rows that went into waiting for rows. */
  readonly data: number;
  /** Share of all work that went into checkpoints. */
  readonly checkpoints: number;
}

/**
 * Of the runs of the last weeks together, or of one of them; null: none trained long enough to say. `now` in milliseconds since 1970.
 */
export function waitingOf(runs: readonly BilledRun[], now: number, only?: number): Waiting | null {
  // Bills of earlier versions do not tell rows from training.
  const counted = runs.filter(
    ({ run, bill, startedAt }) =>
      (only === undefined ? startedAt > now - weeksCounted * week : run === only) && bill?.phases.data !== undefined,
  );
  const sum = (of: (phases: PhaseSeconds) => number): number =>
    counted.reduce((seconds, { bill }) => seconds + of(bill!.phases), 0);
  const data = sum((phases) => phases.data ?? 0);
  const training = data + sum((phases) => phases.training ?? 0);
  if (training < leastSeconds) return null;
  const checkpoints = sum((phases) => phases.checkpoints ?? 0);
  const work = training + checkpoints + sum(({ validation = 0 }) => validation);
  return { runs: counted.length, data: data / training, checkpoints: checkpoints / work };
}

/** The facts that the rules of advice rest on. */
export const waitingFacts = (
  waiting: Waiting | null,
): { readonly dataWait?: number; readonly checkpointShare?: number; readonly waitedRuns?: number } =>
  waiting === null ? {} : { dataWait: waiting.data, checkpointShare: waiting.checkpoints, waitedRuns: waiting.runs };
