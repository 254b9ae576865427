// Long work in steps: progress is told and a cancellation gets in between them.

import { CancelledError } from '../protocol/errors.ts';
import type { Pace } from './subject.ts';

/** Time to let a cancellation in. */
export interface Unhurried extends Pace {
  /** Milliseconds. */
  readonly clock: () => number;
  readonly breathe: () => Promise<void>;
}

/** Milliseconds after which a cancellation gets in. */
const sliceMilliseconds = 50;

/** Does all of some work, letting others in now and then. Throws CancelledError where it is stopped. */
export async function unhurried<T>(
  working: Generator<number, T, void>,
  { stopped, onProgress, clock, breathe }: Unhurried,
): Promise<T> {
  let [step, told] = [working.next(), clock()];
  for (; !step.done; step = working.next()) {
    if (clock() - told < sliceMilliseconds) continue;
    onProgress?.(step.value);
    await breathe();
    if (stopped?.()) throw new CancelledError();
    told = clock();
  }
  return step.value;
}
