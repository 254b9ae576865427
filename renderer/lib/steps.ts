// Long work of the page in slices: between two of them the window takes input and draws.

import { breathe } from './breathe.ts';

/** Milliseconds a slice may take: half a frame. */
const slice = 8;

/** Goes through the steps; null once `wanted` says no more. */
export async function inSlices<T>(
  steps: Generator<void, T>,
  wanted: () => boolean,
  { now = () => performance.now(), rest = breathe }: { now?: () => number; rest?: () => Promise<void> } = {},
): Promise<T | null> {
  for (;;) {
    await rest();
    if (!wanted()) return null;
    const until = now() + slice;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (now() < until);
  }
}
