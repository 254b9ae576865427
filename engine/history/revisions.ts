// Which runs changed, and telling the listeners: at once for what this process changed of a run, twice a second for what a
// run gathers while it trains and for what other processes on the same home have done. Every write to a run row stores the next number of a
// counter that all processes share; asking for the rows above the last number seen gives what changed since.

import { Listeners } from '../protocol/listeners.ts';
import type { RunsChanged } from '../protocol/store.ts';
import type { Connection } from './database.ts';
import { repeat } from './repeat.ts';

const pollMilliseconds = 500;

export const changedRuns = 'SELECT id, revision FROM run WHERE revision > ?';
const countedRuns = 'SELECT COUNT(*) AS count FROM run';
const allRuns = 'SELECT id FROM run';

/** Takes the next number of the counter. Within a transaction. */
export function nextRevision(connection: Connection): number {
  const row = connection.sql<[], { revision: number }>('UPDATE counter SET revision = revision + 1 RETURNING revision');
  return row.get()!.revision;
}

/** What a run gathered took its row from one revision to another. */
export interface Growth {
  readonly from: number;
  readonly to: number;
  /** Lines were added to its log. */
  readonly logged: boolean;
}

const idOf = ({ id }: { readonly id: number }): number => id;

export interface Changes {
  /** Tells the listeners of committed changes soon, all of one tick together. */
  announce(runs: readonly number[]): void;
  /** Committed, too, but to be told with the next poll, as a run that has only trained on. */
  note(run: number, growth: Growth): void;
  onChanged(listener: (event: RunsChanged) => void): () => void;
  close(): void;
}

export function watchChanges(connection: Connection): Changes {
  const listeners = new Listeners<RunsChanged>();
  const announced = new Set<number>();
  /** Revisions of runs that the listeners know of before the next poll. */
  const told = new Map<number, number>();
  /** What runs gathered since the last poll, without a gap: somebody else's change would be one. */
  const grown = new Map<number, Growth>();
  /** Runs that there are, as of the last poll: of those removed for good no row tells. */
  const known = new Set<number>();
  let stopPolling: (() => void) | null = null;
  let seen = 0;
  let closed = false;

  const currentRevision = (): number =>
    connection.sql<[], { revision: number }>('SELECT revision FROM counter').get()!.revision;

  const idsOf = (query: string): readonly number[] => connection.sql<[], { id: number }>(query).all().map(idOf);
  const takeRemoved = (): readonly number[] => {
    if (connection.sql<[], { count: number }>(countedRuns).get()!.count === known.size) return [];
    const left = new Set(idsOf(allRuns));
    const removed = [...known].filter((id) => !left.has(id));
    removed.forEach((id) => known.delete(id));
    return removed;
  };

  const tell = (runs: readonly number[], trained: readonly number[] = []): void => {
    const logged = trained.filter((run) => grown.get(run)?.logged);
    if (runs.length > 0 && !closed) listeners.emit({ runs, trained, logged });
  };
  /** Nothing else has happened to it since the listeners heard of it. */
  const onlyGrew = (row: { id: number; revision: number }): boolean => {
    const growth = grown.get(row.id);
    return growth?.to === row.revision && (growth.from <= seen || growth.from === told.get(row.id));
  };
  const tellAnnounced = (): void => {
    const runs = [...announced];
    announced.clear();
    tell(runs);
  };
  const poll = (): void => {
    const revision = currentRevision();
    if (revision === seen) return;
    const rows = connection.sql<[number], { id: number; revision: number }>(changedRuns).all(seen);
    const changed = rows.filter((row) => told.get(row.id) !== row.revision);
    const trained = changed.filter(onlyGrew);
    seen = revision;
    rows.forEach(({ id }) => known.add(id));
    tell([...changed.map(idOf), ...takeRemoved()], trained.map(idOf));
    told.clear();
    grown.clear();
  };

  return {
    announce(runs) {
      if (listeners.size === 0) return;
      if (announced.size === 0) queueMicrotask(tellAnnounced);
      const query = connection.sql<[number], { revision: number }>('SELECT revision FROM run WHERE id = ?');
      for (const run of runs) {
        announced.add(run);
        const revision = query.get(run)?.revision;
        if (revision === undefined) known.delete(run);
        else told.set(run, revision);
      }
    },
    note(run, growth) {
      if (listeners.size === 0) return;
      const before = grown.get(run);
      const joins = before?.to === growth.from;
      grown.set(run, joins ? { ...growth, from: before.from, logged: before.logged || growth.logged } : growth);
    },
    onChanged(listener) {
      const stop = listeners.add(listener);
      if (stopPolling === null) {
        seen = currentRevision();
        idsOf(allRuns).forEach((id) => known.add(id));
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
