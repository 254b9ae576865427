// Waiting no longer than makes sense: for a host that should have answered, and for nothing that a person has stopped.

import { TrainyardError } from '../protocol/errors.ts';

/** A host that has not started after this long does not start any more, however busy the machine. */
export const startMilliseconds = 120_000;

/** What `work` gives, or an error once `milliseconds` have passed without it: `what` did not answer. */
export function within<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(silence(what, milliseconds)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Something that has to be ended: if it comes after nobody waits for it any more, it is ended at once. */
export async function orEnded<T extends { kill(): void }>(
  work: Promise<T>,
  wait: (work: Promise<T>) => Promise<T>,
): Promise<T> {
  try {
    return await wait(work);
  } catch (error) {
    work.then(
      (late) => late.kill(),
      () => undefined,
    );
    throw error;
  }
}

function silence(what: string, milliseconds: number): TrainyardError {
  return new TrainyardError(
    'internal.silent',
    `${what} did not answer within ${Math.round(milliseconds / 1000)} seconds.`,
    'Try again; if it stays so, choose another device or restart Trainyard.',
  );
}
