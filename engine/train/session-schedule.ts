// Where a session is on its way: the steps of a run, those that were before it included, and what the schedule says at each.

import type { TrainingSpec } from '../model/spec.ts';
import { learningRateAt } from '../optim/schedules.ts';
import type { TrainingState } from './checkpoint.ts';
import { shareAt, type DeadlinePlan } from './deadline.ts';

export class SessionSchedule {
  readonly #training: TrainingSpec;
  readonly #stepsPerEpoch: number;
  /** Where the schedule began, and where the optimizer's state was new. */
  #begun = { scheduleStep: 0, scheduleEpoch: 0, optimizerStep: 0 };
  #plan: DeadlinePlan | null = null;

  constructor(training: TrainingSpec, stepsPerEpoch: number) {
    this.#training = training;
    this.#stepsPerEpoch = stepsPerEpoch;
  }

  /** Takes the place of a run that goes on: where it began with the schedule and the optimizer it has now. */
  takeUp({ scheduleStep, scheduleEpoch, optimizerStep, plan }: TrainingState): void {
    this.#begun = { scheduleStep, scheduleEpoch, optimizerStep };
    this.#plan = plan ?? null;
  }

  /** Goes by a time instead of the number of epochs from now on. */
  takePlan(plan: DeadlinePlan): void {
    this.#plan = plan;
  }

  /** What is planned where nothing but the number of epochs is known: the schedule as it is. */
  get wholePlan(): DeadlinePlan {
    return this.#plan ?? { steps: this.totalSteps, fromStep: this.#begun.scheduleStep + this.#warmup, fromShare: 0 };
  }

  /** Steps of the whole run, those it took over included. */
  get totalSteps(): number {
    if (this.#plan) return this.#plan.steps;
    const { scheduleStep, scheduleEpoch } = this.#begun;
    return scheduleStep + this.#stepsPerEpoch * (this.#training.epochs - scheduleEpoch);
  }

  /** Epochs of the whole run; the last of a plan may be cut short. */
  get epochs(): number {
    return this.#plan ? Math.ceil(this.epochAt(this.#plan.steps)) : this.#training.epochs;
  }

  /** Epochs after so many steps, with fractions. */
  epochAt(step: number): number {
    const { scheduleStep, scheduleEpoch } = this.#begun;
    return scheduleEpoch + (step - scheduleStep) / this.#stepsPerEpoch;
  }

  /** Updates of the optimizer's state before a step. */
  updatesBefore(step: number): number {
    return step - this.#begun.optimizerStep;
  }

  learningRate(step: number): number {
    const done = step - this.#begun.scheduleStep;
    if (this.#plan && done >= this.#warmup) {
      const total = this.#plan.steps - this.#begun.scheduleStep;
      const stretched = this.#warmup + shareAt(this.#plan, step) * Math.max(0, total - this.#warmup - 1);
      return learningRateAt(this.#training, stretched, total, this.#stepsPerEpoch);
    }
    return learningRateAt(this.#training, step - this.#begun.scheduleStep, this.#scheduledSteps, this.#stepsPerEpoch);
  }

  /** Steps of the schedule. */
  get #scheduledSteps(): number {
    const { epochs, schedule } = this.#training;
    const last = schedule.overEpochs > 0 ? schedule.overEpochs : epochs;
    return this.#stepsPerEpoch * Math.max(0, last - this.#begun.scheduleEpoch);
  }

  get #warmup(): number {
    return Math.round(this.#training.schedule.warmupEpochs * this.#stepsPerEpoch);
  }

  /** How far the schedule is at a step: 0 … 1. */
  progress(step: number): number {
    if (this.#plan) return shareAt(this.#plan, step);
    return Math.min(1, (step - this.#begun.scheduleStep) / Math.max(1, this.#scheduledSteps - 1));
  }
}
