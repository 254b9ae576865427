// What a check is: work within a budget of time that ends in findings, or says why it could not be made. A learner brings the checks
// that only it can make, and a short trial of itself; the rest is asked of every learner (examination.ts).

import type { CheckAction, CheckFinding, CheckId } from '../protocol/checking.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';

/** What work goes by while it goes on. Times in milliseconds. */
export interface Pace {
  readonly clock: () => number;
  /** Lets messages in; throws CancelledError once it is cancelled. */
  readonly breathe: () => Promise<void>;
}

export interface Check {
  /** What it finds, in this order. */
  readonly finds: readonly CheckId[];
  /** Seconds it may take. */
  readonly seconds: number;
  /** Throws NotDone where it cannot be made. */
  run(pace: Pace): Promise<readonly CheckFinding[]>;
}

/** Why a check could not be made, for people: "Needs a batch of 32; the split has 20". */
export class NotDone extends Error {}

/** Rows in memory: a dataset of their own, train before validation. */
export interface SampledRows {
  readonly data: PreparedData;
  readonly shard: Shard;
}

/** What a learner made of a few rows in a short time. */
export interface Trial {
  /** Raw outputs of the validation rows, [rows, width]. */
  readonly outputs: Float32Array;
  /** Training loss of each step; empty where the learner tells none. */
  readonly losses: readonly number[];
}

/** What a learner lets be examined. */
export interface Examination {
  readonly checks: readonly Check[];
  /** Trains anew on these rows for about so many milliseconds, or so many steps. */
  trial(
    rows: SampledRows,
    limit: { readonly milliseconds: number } | { readonly steps: number },
    pace: Pace,
  ): Promise<Trial>;
  /** What to try where its losses are no numbers any more, once it was tried on the sample. */
  calmer?(pace: Pace): Promise<CheckAction | undefined>;
  /** How fast it trains; absent: it reads its rows once and has no steps. */
  speed?(): Promise<StepRate>;
}

/** Milliseconds a step of so many rows, and steps of all epochs. */
export interface StepRate {
  readonly milliseconds: number;
  readonly rows: number;
  readonly steps: number;
}

/** What every check of a learner starts from. */
export interface Sampled {
  /** Rows of the training and the validation split, drawn from all over them. */
  readonly sample: SampledRows;
  /** Of the whole dataset. */
  readonly data: PreparedData;
}

/** `1.3·10⁻⁶` as people write it: two digits, powers of ten beyond four places. */
export function figure(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return Number.isNaN(value) ? 'no number' : String(value);
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power >= -3 && power < 5) return String(Number(value.toPrecision(3)));
  const head = Number((value / 10 ** power).toPrecision(1));
  return head === 1 ? `10${superscript(power)}` : `${head}·10${superscript(power)}`;
}

const raised = '⁰¹²³⁴⁵⁶⁷⁸⁹';
export const superscript = (power: number): string =>
  [...String(power)].map((digit) => (digit === '-' ? '⁻' : raised[Number(digit)])).join('');

export const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
export const counted = (value: number): string => value.toLocaleString('en');
