// A learner that works in slices and is to be done by a time: how long it may work, and how much it plans by what its units (trees, trials)
// take. Networks have a schedule to bring to its end and plan by their steps (engine/train/timekeeper.ts).

import type { DeadlineResult } from '../protocol/runs.ts';
import { dueText } from '../protocol/words.ts';
import { endMilliseconds, Pace, stepsInTime, workable } from '../train/deadline.ts';
import type { LearnerJob } from './learner.ts';

/** The first plan is told after so many milliseconds, or this share of what is left: the first units are slow. */
const [settling, settlingShare] = [1_000, 0.05];

export class DoneBy {
  readonly until: number;
  readonly #surroundings: LearnerJob['surroundings'];
  readonly #pace = new Pace();
  readonly #since: number;
  readonly #settles: number;
  #planned: number | null = null;

  /** Null: the run has as long as its settings say. */
  static of({ config: { until }, surroundings }: Pick<LearnerJob, 'config' | 'surroundings'>): DoneBy | null {
    return until === undefined ? null : new DoneBy(until, surroundings);
  }

  constructor(until: number, surroundings: LearnerJob['surroundings']) {
    this.until = until;
    this.#surroundings = surroundings;
    this.#since = surroundings.clock();
    this.#settles = Math.min(settling, settlingShare * (until - surroundings.now()));
  }

  /** That time in words, as seen now. */
  get words(): string {
    return dueText(this.until, this.#surroundings.now());
  }

  /** Milliseconds of work left, where the end of it takes so many; below 0: it is over. */
  left(end: number): number {
    return workable(this.until - this.#surroundings.now(), end + endMilliseconds);
  }

  /** What was measured counts no more: a pause. */
  anew(): void {
    this.#pace.anew();
  }

  /** Units in all that there is time for, where each takes `endOfEach` milliseconds more at the end; null: too few have been seen. */
  plan(done: number, endOfEach: number): number | null {
    const now = this.#surroundings.clock();
    const left = this.until - this.#surroundings.now();
    this.#pace.mark(now, done, left);
    const { step } = this.#pace;
    if (step === null || now - this.#since < this.#settles) return null;
    const speed = { step: step + endOfEach, end: endMilliseconds + done * endOfEach };
    const units = stepsInTime(done, left, speed);
    this.#planned ??= units;
    return units;
  }

  /** What became of it, where no more than `most` were asked for. */
  result(units: number, most = Infinity): DeadlineResult {
    const planned = this.#planned === null ? {} : { planned: Math.min(most, this.#planned) };
    return { until: this.until, epochs: units, ended: this.#surroundings.now(), ...planned };
  }
}
