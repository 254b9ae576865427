// A search as it crosses process borders: its trials, how far it is and what it came to. Trials are rows of the history beside the run of the
// search; none of them is a run until somebody trains its settings as one.

import type { Value } from '../settings/field.ts';

/** What a trial had of each setting that counted for it. */
export type TrialSettings = Readonly<Record<string, Value>>;

export type TrialState = 'completed' | 'stopped' | 'failed';

/** A trial that has ended. One that goes on with an earlier one is a trial of its own, with the same settings. */
export interface Trial {
  /** From 1. */
  readonly trial: number;
  readonly settings: TrialSettings;
  readonly state: TrialState;
  /** Mean log loss, or root mean square error in the target's unit, over the folds that it had: less is better. Null: it came to nothing. */
  readonly score: number | null;
  /** Share of a whole training that it had, 0 … 1. */
  readonly reached: number;
  /** Steps of training. */
  readonly steps: number;
  /** Mean loss of each part of the rows that it was scored on, as losses are: log losses or squares of standardised numbers. */
  readonly losses: readonly number[];
  /** What it scored at the rungs that it came to, as losses are. */
  readonly rungs: readonly (readonly [rung: number, loss: number])[];
  /** From its choice to its end, without pauses. */
  readonly seconds: number;
  /** Of those, steps of training alone. */
  readonly training: number;
  /** Why it was stopped or came to nothing, or what it went on with; empty: it was completed at once. */
  readonly note: string;
  /** The trial, stopped early, that it went on with. */
  readonly after?: number;
  /** What that one learned was gone: it was trained from the beginning. */
  readonly anew?: true;
}

/**
 * Orders trials that were completed, the best first. One that its time cut short was scored on fewer rows, or learned less in its last fold: it
 * goes behind all that were whole, however good its score looks.
 */
export const byQuality = (one: Trial, other: Trial): number => other.reached - one.reached || one.score! - other.score!;

/** Whether a trial was completed and is better than the best one before it. */
export const isBetter = (one: Trial, best: Trial | null): boolean =>
  one.state === 'completed' && (best === null || byQuality(one, best) < 0);

/** `C`: the settings of a run. */
export interface BestTrial<C = object> {
  readonly trial: number;
  readonly score: number;
  readonly settings: TrialSettings;
  /** Settings of a run that trains as it did, once, with a validation split. */
  readonly config: C;
  /** Why it was not trained or scored to its end; absent: it was. */
  readonly cut?: string;
}

/** Shares of the variance of the score, by settings. */
export interface SettingImportance {
  readonly single: Readonly<Record<string, number>>;
  /** Of pairs beyond those of each, the largest first. */
  readonly pairs: readonly { readonly of: readonly [string, string]; readonly share: number }[];
}

export interface SearchStanding<C = object> {
  /** Trials that have ended. */
  readonly trials: number;
  readonly completed: number;
  readonly stopped: number;
  readonly failed: number;
  readonly best: BestTrial<C> | null;
  /** What `score` is: `log loss` or `RMSE`. */
  readonly metric: string;
  /** How much better the best of them looks than it is, in the unit of the score; null: there is nothing to tell it by yet. */
  readonly luck: number | null;
  /** Steps of training so far, and what they would have been without stopping early. */
  readonly steps: number;
  readonly fullSteps: number;
  /** Seconds that a trial takes beside its steps of training, at the median. */
  readonly overhead: number;
  readonly importance: SettingImportance | null;
  /** Folds that a trial is scored on. */
  readonly folds: number;
}

/** What ends a search. */
export type SearchEnd = 'trials' | 'minutes' | 'exhausted' | 'stopped';

export interface SearchResult<C = object> extends SearchStanding<C> {
  readonly ended: SearchEnd;
}
