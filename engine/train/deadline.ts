// A time to be done by: how many steps there is time for, by what steps have taken so far. The schedule of the learning rate is stretched over
// them, so that training ends annealed just then; when the speed changes, what is left of the schedule is laid over the steps that are left.

import type { TrainingSpec } from '../model/spec.ts';

/** What a run has planned to be done in time; it is part of its state. Plain JSON. */
export interface DeadlinePlan {
  /** Steps of the whole run. */
  readonly steps: number;
  /** The schedule goes on evenly from this step to the last. */
  readonly fromStep: number;
  /** How far it was there, 0 … 1. */
  readonly fromShare: number;
  /** Steps at most, however much time is left: more bring nothing. Absent: nobody has seen that yet. */
  readonly most?: number;
}

/** How far the schedule is at a step: 0 … 1. The last step has share 1. */
export function shareAt({ steps, fromStep, fromShare }: DeadlinePlan, step: number): number {
  const left = steps - 1 - fromStep;
  if (left <= 0) return 1;
  return Math.min(1, fromShare + (1 - fromShare) * Math.max(0, (step - fromStep) / left));
}

/** The same share at `step`, and the rest of the schedule over the steps up to `steps`. */
export function replan(plan: DeadlinePlan, step: number, steps: number): DeadlinePlan {
  const { most } = plan;
  const last = Math.max(step, Math.min(steps, most ?? Infinity));
  return { steps: last, fromStep: step, fromShare: shareAt(plan, step), ...(most === undefined ? {} : { most }) };
}

/** Of the epochs so far, so many more bring the rate down where more time brings nothing. */
const coolingShare = 0.25;

/** Whether more time brings nothing: as many epochs as it took to the best one, and as its patience allows, were no better. */
export const isEnough = (bestEpoch: number, stale: number, patience: number): boolean =>
  stale >= Math.max(patience, bestEpoch);

/** The rest of the schedule over a quarter of the steps so far, whatever time is left. */
export function cooled(plan: DeadlinePlan, step: number): DeadlinePlan {
  return replan({ ...plan, most: Math.ceil((1 + coolingShare) * step) }, step, plan.steps);
}

/** How far the schedule has to be for its end to count as reached: the rate is 2 % of the highest by then where it falls as a cosine, 10 % evenly. */
const annealedFrom = 0.9;

/** Whether the schedule of a run that has come to the last of its steps was at its end: one that was cut short, for its time had passed, was not. */
export function isAnnealed({ steps, fromStep, fromShare }: DeadlinePlan): boolean {
  return fromStep < steps || fromShare >= annealedFrom;
}

export interface Speed {
  /** Milliseconds a step takes, with the looks at the validation rows that it brings. */
  readonly step: number;
  /** Milliseconds at the end: scores of all rows, files. */
  readonly end: number;
}

/** Settings of a training that ends by the clock: its rate falls to the end where it would not, and its epochs are left to the plan. */
export function untilTraining<Training extends Omit<TrainingSpec, 'seed'>>(training: Training): Training {
  const { schedule } = training;
  const name = schedule.name === 'constant' || schedule.name === 'step' ? 'cosine' : schedule.name;
  return { ...training, schedule: { ...schedule, name, overEpochs: 0 } };
}

/** Whether something read from a file is a plan. */
export function isPlan(value: unknown): value is DeadlinePlan {
  if (typeof value !== 'object' || value === null) return false;
  const { steps, fromStep, fromShare, most = 0 } = value as Partial<Record<keyof DeadlinePlan, unknown>>;
  return [steps, fromStep, most].every((count) => Number.isSafeInteger(count)) && Number.isFinite(fromShare);
}

/** Share of the time left that is kept back: what comes is not quite what was. */
const keptBack = 0.01;
/** Milliseconds that are kept back at most, and at least. */
const mostKept = 60_000;
const leastKept = 300;
/** Milliseconds at the end of every run: what has to be beaten, and files. */
const [toBeat, files] = [1_000, 200];
export const endMilliseconds = toBeat + files;

/** Milliseconds to find what a run has to beat that is to be done by a time: what is reckoned with, or less where its steps have ended late. */
export function timeToBeat(until: number, now: number): number {
  return Math.max(0, Math.min(toBeat, until - now - files));
}

/** What of the milliseconds left can be worked with: what is kept back and what the end takes, in milliseconds, are taken off. */
export function workable(left: number, end: number): number {
  return left - Math.min(mostKept, Math.max(leastKept, keptBack * left)) - end;
}

/** The last step that there is time for, where `step` are done and so many milliseconds are left. Never one that is done already. */
export function stepsInTime(step: number, left: number, speed: Speed): number {
  return step + Math.max(0, Math.floor(workable(left, speed.end) / Math.max(1e-6, speed.step)));
}

/** Milliseconds over which the speed is taken: long enough for its jitter, short enough to see it change; a twentieth of what is left between. */
const [shortest, longest] = [10_000, 300_000];

/** What steps have taken lately. */
export class Pace {
  readonly #marks: { readonly time: number; readonly step: number }[] = [];

  /** Steps done by a time in milliseconds, where so many are left. */
  mark(time: number, step: number, left: number): void {
    this.#marks.push({ time, step });
    const since = time - Math.min(longest, Math.max(shortest, left / 20));
    const before = this.#marks.findIndex((mark) => mark.time > since) - 1;
    if (before > 0) this.#marks.splice(0, before);
  }

  /** What was before counts no more: a pause. */
  anew(): void {
    this.#marks.length = 0;
  }

  /** Milliseconds a step; null: too few have been seen. */
  get step(): number | null {
    const [first, last] = [this.#marks.at(0), this.#marks.at(-1)];
    if (!first || !last || last.step <= first.step) return null;
    return (last.time - first.time) / (last.step - first.step);
  }
}
