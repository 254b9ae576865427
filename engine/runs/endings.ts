// How attempts end that do not come to their end: stopped, or without the process that trained.

import { CancelledError, TrainyardError } from '../protocol/errors.ts';

export const stoppedBefore = (): CancelledError => new CancelledError('The run was stopped before it began to train.');

export function stoppedHard(milliseconds: number): TrainyardError {
  return new TrainyardError(
    'run.stopped_hard',
    `The run did not stop within ${milliseconds / 1000} seconds; its process was ended.`,
    'Resume the run to go on from its last checkpoint.',
  );
}

export function stoppedAtOnce(): TrainyardError {
  return new TrainyardError(
    'run.stopped_at_once',
    'The run was stopped at once, before its last evaluation.',
    'Its best weights so far are kept.',
  );
}

/** How long to wait for the news that a host is dead after its connection closed. */
const deathMilliseconds = 1_000;

/** A connection closes together with its process, and the process's own ending says more. */
export async function preferDeath(error: unknown, died: Promise<never>): Promise<never> {
  const disconnected = error instanceof TrainyardError && error.code === 'internal.disconnected';
  if (disconnected) await Promise.race([died, new Promise((resolve) => setTimeout(resolve, deathMilliseconds))]);
  throw error;
}

/** The process that trained has gone. */
export const hostEnded = (reason: string): TrainyardError =>
  new TrainyardError(
    'run.host_ended',
    `The process that trained this run is gone: ${reason}.`,
    'Resume the run: it goes on from its last checkpoint. If memory ran short, choose a smaller batch or model.',
  );
