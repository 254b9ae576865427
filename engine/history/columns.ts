// Which columns a run learned from, for finding it by them: told by the preprocessing among its files. Runs of histories that did not
// keep them are looked up beside the calls, once.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './database.ts';
import type { RunsTable } from './runs.ts';

/** Runs in one transaction, beside the calls. */
const slice = 20;
const largestRead = 2 ** 26;
const namedColumns = 2_000;

/** Names of the columns that preprocessing speaks of; null for what is none. */
export function columnsIn(text: string): readonly string[] | null {
  try {
    const { features = [], target, leftOut = [] } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const all = [...(features as unknown[]), target, ...(leftOut as unknown[])];
    const names = all.flatMap((one) => {
      const column = (one as { column?: unknown } | undefined)?.column;
      return typeof column === 'string' ? [column] : [];
    });
    return [...new Set(names)].slice(0, namedColumns);
  } catch {
    return null;
  }
}

/** Looks up the columns of runs that have ended and of which they are not known. */
export async function findColumns(
  home: string,
  connection: Connection,
  runs: RunsTable,
  goOn: () => boolean,
): Promise<void> {
  const query = "SELECT id FROM run WHERE columns IS NULL AND state NOT IN ('queued', 'running', 'paused') LIMIT ?";
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5).unref());
    if (!goOn()) return;
    const wanted = connection.sql<[number], { id: number }>(query).all(slice);
    if (wanted.length === 0) return;
    connection.transaction(() => {
      for (const { id } of wanted) runs.setColumns(id, columnsOnDisk(join(home, 'runs', String(id))));
    });
  }
}

function columnsOnDisk(folder: string): readonly string[] {
  const file = join(folder, 'preprocessing.json');
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size > largestRead) return [];
  return columnsIn(readFileSync(file, 'utf8')) ?? [];
}
