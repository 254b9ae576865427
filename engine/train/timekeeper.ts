// Keeps a run in time: measures what its steps take, plans how many there is time for, and says so.

import type { DeadlineResult } from '../protocol/runs.ts';
import { pastDeadline } from '../protocol/deadline.ts';
import { dueText } from '../protocol/words.ts';
import type { TrainingState } from './checkpoint.ts';
import type { Surroundings } from './control.ts';
import { cooled, endMilliseconds, isAnnealed, isEnough, Pace, replan, stepsInTime } from './deadline.ts';
import type { Diary } from './diary.ts';
import type { SessionSchedule } from './session-schedule.ts';
import type { Session } from './session.ts';

export interface TimekeeperOptions {
  readonly session: Session;
  readonly state: TrainingState;
  readonly surroundings: Surroundings;
  readonly diary: Diary;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Rows of the splits. */
  readonly counts: { readonly train: number; readonly validation: number; readonly test: number };
}

/** Plans are made anew after a hundredth of the time that is left, and no oftener and no more seldom than this, in milliseconds. */
const [soonest, latest] = [200, 30_000];
/**
 * The first steps are slow, as code is still compiled and rows come to where they are used: after half of this time, in milliseconds or as a
 * share of what is left, the speed is taken anew, and after all of it the first plan is told.
 */
const [settling, settlingShare] = [1_000, 0.05];
/** A forward pass takes about a third of a step. */
const lookShare = 1 / 3;
/** A change of the plan that is worth a line, and the share of the time left within which there is no other. */
const worthSaying = 0.1;

/**
 * A small table is passed a hundred times a second, and its loss may fall again after hundreds of epochs: so much is tried of any time, in
 * milliseconds or as a share of it.
 */
const [leastTried, leastShare] = [60_000, 0.1];

export class Timekeeper {
  readonly #options: TimekeeperOptions;
  readonly #pace = new Pace();
  /** Milliseconds of looks at the validation rows and of pauses, which are no steps. */
  #aside = 0;
  /** Of the last look. */
  #look: number | null = null;
  #next = 0;
  /** Half-way to the end of the last plan: steps that have become faster do not come to it before there is another. */
  #half = 0;
  /** Milliseconds a step, as far as is known. */
  #took: number | null = null;
  /** When the steps began, and how long they have to settle; null: before the first. */
  #settling: { readonly since: number; readonly takes: number } | null = null;
  #warm = false;
  /** Before that no loss says that more bring nothing, in milliseconds since 1970. */
  readonly #hasEnoughFrom: number;
  #first: number | null = null;
  #said = 0;
  /** Until then nothing is said again. */
  #quiet = 0;

  /** Throws InputError `input.deadline` for a run that would begin too late. */
  constructor(options: TimekeeperOptions) {
    this.#options = options;
    const { state, surroundings, until } = options;
    const now = surroundings.now();
    const late = now >= until;
    this.#hasEnoughFrom = now + Math.min(leastTried, leastShare * (until - now));
    if (late && state.step === 0) throw pastDeadline(until, now);
    this.#plan(late ? replan(this.#schedule.wholePlan, state.step, state.step) : this.#schedule.wholePlan);
  }

  /** There is no time for a step after so many. */
  isOver(step: number): boolean {
    return step >= this.#schedule.totalSteps;
  }

  /** Time that no step took: a look at the validation rows, a pause. */
  aside(milliseconds: number, look = false): void {
    this.#aside += milliseconds;
    if (look) this.#look = milliseconds;
    else this.#pace.anew();
  }

  /** Steps are done; `step` is the next that has not been submitted. */
  look(step: number): void {
    const { session, state, surroundings, until, counts } = this.#options;
    const now = surroundings.clock();
    const left = until - surroundings.now();
    const settled = this.#settles(now, left);
    this.#pace.mark(now - this.#aside, state.step, left);
    this.#took = this.#pace.step ?? this.#took;
    const took = this.#took;
    if (took === null || (now < this.#next && step < this.#half)) return;
    this.#next = now + Math.min(latest, Math.max(soonest, left / 100));
    const row = (took / session.batch) * lookShare;
    const look = this.#look ?? row * counts.validation;
    const all = counts.train + counts.validation + counts.test;
    const scores = counts.validation > 0 ? (look * all) / counts.validation : row * all;
    const speed = { step: took + look / session.stepsPerEpoch, end: scores + endMilliseconds };
    this.#plan(replan(this.#schedule.wholePlan, step, stepsInTime(step, left, speed)));
    this.#half = step + Math.ceil((this.#schedule.totalSteps - step) / 2);
    if (settled) this.#say(now, left, speed.step);
  }

  /** Whether the steps take what they are going to take. */
  #settles(now: number, left: number): boolean {
    this.#settling ??= { since: now, takes: Math.min(settling, settlingShare * left) };
    const { since, takes } = this.#settling;
    if (!this.#warm && now - since >= takes / 2) {
      this.#warm = true;
      this.#pace.anew();
    }
    return now - since >= takes;
  }

  /** An epoch has ended and its loss is known. Where more of them bring nothing, what is left of the schedule is gone through soon. */
  judge(): void {
    const { session, state, surroundings, diary, until, counts } = this.#options;
    const { enabled, patience } = session.training.earlyStopping;
    if (!enabled || counts.validation === 0 || this.#schedule.wholePlan.most !== undefined) return;
    if (surroundings.now() < this.#hasEnoughFrom || !isEnough(state.bestEpoch, state.stale, patience)) return;
    const plan = cooled(this.#schedule.wholePlan, state.step);
    // There is no time for more anyway.
    if (plan.steps >= this.#schedule.totalSteps) return;
    this.#plan(plan);
    const more = this.#schedule.epochAt(plan.steps) - this.#schedule.epochAt(state.step);
    diary.hasEnough(state.bestEpoch, more, dueText(until, surroundings.now()));
  }

  /** What was planned, and what became of it. */
  result(): DeadlineResult {
    const { state, surroundings, until } = this.#options;
    const epochs = this.#schedule.epochAt(state.step);
    const { most } = this.#schedule.wholePlan;
    return {
      until,
      planned: this.#first ?? epochs,
      epochs,
      ended: surroundings.now(),
      annealed: this.isOver(state.step) && isAnnealed(this.#schedule.wholePlan),
      ...(most !== undefined && state.step >= most ? { enough: state.bestEpoch } : {}),
    };
  }

  get #schedule(): SessionSchedule {
    return this.#options.session.schedule;
  }

  #plan(plan: NonNullable<TrainingState['plan']>): void {
    this.#schedule.takePlan(plan);
    this.#options.state.plan = plan;
  }

  #say(now: number, left: number, milliseconds: number): void {
    const { session, diary, surroundings, until } = this.#options;
    const epochs = this.#schedule.epochAt(this.#schedule.totalSteps);
    this.#first ??= epochs;
    if (now < this.#quiet || Math.abs(epochs - this.#said) <= worthSaying * epochs) return;
    this.#quiet = now + worthSaying * left;
    const again = this.#said > 0 ? ', by what they take now' : '';
    const { enabled } = session.training.earlyStopping;
    const atMost = enabled && this.#options.counts.validation > 0;
    diary.plans(epochs, dueText(until, surroundings.now()), milliseconds * session.stepsPerEpoch, again, atMost);
    this.#said = epochs;
  }
}
