// Series of metrics: their numbers in the database, and which end of a series is its best.

import { lowerIsBetter } from '../model/metrics.ts';
import type { Connection } from './database.ts';

/** Whether a series (`val_loss`, `test_accuracy`, `learning_rate`) is best at its lowest: as its metric is. */
export function lowestIsBest(series: string): boolean {
  return lowerIsBetter(series.replace(/^(train|val|test)_/, ''));
}

/** Values of a series that has no name: their row is none of ours. */
export class UnknownSeriesError extends Error {
  constructor(number: number) {
    super(`there is no series ${number}`);
    this.name = 'UnknownSeriesError';
  }
}

export interface SeriesNumbers {
  /** The number of a series, given out at its first use. Within a transaction. */
  numberOf(name: string): number;
  /** The number of a series, or null if no run ever had it. */
  find(name: string): number | null;
  /** The name of a series that a committed row speaks of; such names never change. */
  nameOf(number: number): string;
}

export function createSeriesNumbers(connection: Connection): SeriesNumbers {
  const names = new Map<number, string>();

  const find = (name: string): number | null => {
    const query = connection.sql<[string], { id: number }>('SELECT id FROM series WHERE name = ?');
    return query.get(name)?.id ?? null;
  };

  return {
    find,
    numberOf(name) {
      const insert = connection.sql<[string], { id: number }>('INSERT INTO series (name) VALUES (?) RETURNING id');
      return find(name) ?? insert.get(name)!.id;
    },
    nameOf(number) {
      let name = names.get(number);
      if (name === undefined) {
        name = connection.sql<[number], { name: string }>('SELECT name FROM series WHERE id = ?').get(number)?.name;
        if (name === undefined) throw new UnknownSeriesError(number);
        names.set(number, name);
      }
      return name;
    },
  };
}
