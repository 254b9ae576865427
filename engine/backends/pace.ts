// How many steps go into one submit. A submit has to be short enough that pause and stop answer at once, and on a GPU well under
// the time after which drivers reset it; but each costs a fixed amount, so it should not be shorter than need be. Every
// executable keeps a pace for each of its programs, and tells it as `stepsAtOnce`.

/** What a submit should take. A GPU has two of them in flight: what a person waits for at most. */
export const submitMilliseconds = 40;

/** A step may prove so many times faster than it seemed in one measurement: one fast submit is no reason for one of hundreds. */
const largestRise = 4;

export class Pace {
  readonly #target: number;
  /** 0 = nobody knows: one step, then. */
  #millisecondsPerStep: number;
  #measured = false;

  /** `guess`: milliseconds a step is taken for before anything is measured; `target`: what a submit should take. */
  constructor(guess = 0, target = submitMilliseconds) {
    this.#millisecondsPerStep = guess;
    this.#target = target;
  }

  /** A submit of this program has been timed. */
  get measured(): boolean {
    return this.#measured;
  }

  /** Steps the next submit may hold. */
  get steps(): number {
    return this.#millisecondsPerStep > 0 ? Math.max(1, Math.floor(this.#target / this.#millisecondsPerStep)) : 1;
  }

  /** A submit of `steps` took that long. The first counts whole; later a slower one counts at once, a faster one in part. */
  report(steps: number, milliseconds: number): void {
    const measured = Math.max(milliseconds / steps, 1e-4);
    const least = this.#measured ? this.#millisecondsPerStep / largestRise : 0;
    this.#millisecondsPerStep = Math.max(measured, least);
    this.#measured = true;
  }
}
