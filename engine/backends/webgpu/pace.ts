// How many steps go into one submit. A submit has to stay well under the time after which drivers reset a GPU, and short
// enough that pause and stop answer at once; but each costs a fixed amount, so it should not be shorter than need be.

/** What to expect of a device before anything is measured; pessimistic. */
const guesses = {
  hardware: { flopsPerMillisecond: 2e8, bytesPerMillisecond: 2e7, millisecondsPerDispatch: 0.01 },
  software: { flopsPerMillisecond: 1e6, bytesPerMillisecond: 1e6, millisecondsPerDispatch: 0.1 },
} as const;

export interface StepWork {
  readonly flops: number;
  readonly bytes: number;
  readonly dispatches: number;
}

export class Pace {
  readonly #submitMilliseconds: number;
  #millisecondsPerStep: number;
  #measured = false;

  /** `submitMilliseconds`: what a submit should take. */
  constructor(work: StepWork, software: boolean, submitMilliseconds: number) {
    this.#submitMilliseconds = submitMilliseconds;
    const guess = guesses[software ? 'software' : 'hardware'];
    this.#millisecondsPerStep =
      work.flops / guess.flopsPerMillisecond +
      work.bytes / guess.bytesPerMillisecond +
      work.dispatches * guess.millisecondsPerDispatch;
  }

  /** A submit of this program has been timed. */
  get measured(): boolean {
    return this.#measured;
  }

  /** Steps the next submit may hold. */
  get steps(): number {
    return Math.max(1, Math.floor(this.#submitMilliseconds / this.#millisecondsPerStep));
  }

  /** A submit of `steps` took that long. The first time counts whole, later ones half. */
  report(steps: number, milliseconds: number): void {
    const measured = Math.max(milliseconds / steps, 1e-4);
    this.#millisecondsPerStep = this.#measured ? (this.#millisecondsPerStep + measured) / 2 : measured;
    this.#measured = true;
  }
}
