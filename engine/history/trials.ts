// Trials of searches: a row of JSON each, beside the run of the search. A trial is kept once, however often it is told.

import type { Trial } from '../protocol/search.ts';
import type { Connection } from './database.ts';

export interface TrialsTable {
  /** Within a transaction. Those that are there stay as they are. */
  keep(run: number, trials: readonly Trial[]): void;
  /** By their numbers, those after `after`, so many at most. */
  read(run: number, after: number, limit?: number): readonly Trial[];
}

export const insertTrial = 'INSERT OR IGNORE INTO trial (run, number, data) VALUES (?, ?, ?)';
export const readTrials = 'SELECT number, data FROM trial WHERE run = ? AND number > ? ORDER BY number';

export interface TrialRow {
  readonly number: number;
  readonly data: string;
}

export function createTrialsTable(connection: Connection): TrialsTable {
  return {
    keep(run, trials) {
      const insert = connection.sql(insertTrial);
      for (const trial of trials) insert.run(run, trial.trial, JSON.stringify(trial));
    },
    read: (run, after, limit) =>
      connection
        // A negative limit is none.
        .sql<[number, number, number], TrialRow>(`${readTrials} LIMIT ?`)
        .all(run, after, limit ?? -1)
        .map(({ data }) => JSON.parse(data) as Trial),
  };
}
