// Aggregates of many columns by few queries.

import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../database.ts';
import type { SqlValue } from '../database.ts';

/** Columns measured by one query: keeps the SQL short and its hash tables few. */
export const columnsPerQuery = 64;
/** Runs `work` on groups of columns and joins the results. */
export async function inGroups<T, R>(
  items: readonly T[],
  work: (group: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += columnsPerQuery) {
    results.push(...(await work(items.slice(start, start + columnsPerQuery))));
  }
  return results;
}

/** SQL of aggregates by the names their results get. */
type Aggregates = Readonly<Record<string, string | undefined>>;

/** One aggregate query over expressions `v0`, `v1`, …; each one's aggregates come back under their own names. */
export async function aggregate(
  connection: DuckDBConnection,
  from: string,
  values: readonly string[],
  aggregates: (value: string, index: number) => Aggregates,
): Promise<Record<string, SqlValue>[]> {
  if (values.length === 0) return [];
  const inner = values.map((value, index) => `${value} AS v${index}`).join(', ');
  const names: (readonly [index: number, name: string])[] = [];
  const selected = values.flatMap((_, index) =>
    Object.entries(aggregates(`v${index}`, index)).flatMap(([name, expression]) => {
      if (expression === undefined) return [];
      names.push([index, name]);
      return [`${expression} AS a${names.length - 1}`];
    }),
  );
  if (selected.length === 0) return values.map(() => ({}));
  const [row = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM (SELECT ${inner} FROM ${from})`);
  const results = values.map((): [name: string, value: SqlValue][] => []);
  names.forEach(([index, name], at) => results[index]?.push([name, row[`a${at}`] ?? null]));
  return results.map((entries) => Object.fromEntries(entries));
}
