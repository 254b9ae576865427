// Which runs changed, and telling the listeners: at once for what this process changed of a run, twice a second for new
// metrics and for what other processes on the same home have done. Every write to a run row stores the next number of a
// counter that all processes share; asking for the rows above the last number seen gives what changed since.

import { Listeners } from '../protocol/listeners.ts';
import type { Connection } from './database.ts';
import { repeat } from './repeat.ts';

const pollMilliseconds = 500;

export const changedRuns = 'SELECT id, revision FROM run WHERE revision > ?';

/** Takes the next number of the counter. Within a transaction. */
export function nextRevision(connection: Connection): number {
  const row = connection.sql<[], { revision: number }>('UPDATE counter SET revision = revision + 1 RETURNING revision');
  return row.get()!.revision;
}

export interface Changes {
  /** Tells the listeners of committed changes soon, all of one tick together. */
  announce(runs: readonly number[]): void;
  onChanged(listener: (event: { readonly runs: readonly number[] }) => void): () => void;
  close(): void;
}

export function watchChanges(connection: Connection): Changes {
  const listeners = new Listeners<{ readonly runs: readonly number[] }>();
  const announced = new Set<number>();
  /** Revisions of runs that the listeners know of before the next poll. */
  const told = new Map<number, number>();
  let stopPolling: (() => void) | null = null;
  let seen = 0;
  let closed = false;

  const currentRevision = (): number =>
    connection.sql<[], { revision: number }>('SELECT revision FROM counter').get()!.revision;

  const tell = (runs: readonly number[]): void => {
    if (runs.length > 0 && !closed) listeners.emit({ runs });
  };
  const tellAnnounced = (): void => {
    const runs = [...announced];
    announced.clear();
    tell(runs);
  };
  const poll = (): void => {
    const revision = currentRevision();
    if (revision === seen) return;
    const changed = connection.sql<[number], { id: number; revision: number }>(changedRuns).all(seen);
    seen = revision;
    tell(changed.filter((row) => told.get(row.id) !== row.revision).map((row) => row.id));
    told.clear();
  };

  return {
    announce(runs) {
      if (listeners.size === 0) return;
      if (announced.size === 0) queueMicrotask(tellAnnounced);
      const query = connection.sql<[number], { revision: number }>('SELECT revision FROM run WHERE id = ?');
      for (const run of runs) {
        announced.add(run);
        told.set(run, query.get(run)?.revision ?? 0);
      }
    },
    onChanged(listener) {
      const stop = listeners.add(listener);
      if (stopPolling === null) {
        seen = currentRevision();
        stopPolling = repeat(pollMilliseconds, poll);
      }
      return stop;
    },
    close() {
      closed = true;
      stopPolling?.();
    },
  };
}
