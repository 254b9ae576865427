// Was history.db written by a newer program? Asked before anything is opened: what a newer program wrote is not to be touched.

import { closeSync, openSync } from 'node:fs';
import { formatOf, hasHeader, headerBytes, readStart } from './header.ts';
import { newerError } from './migrations.ts';
import type { LeftLog } from './wal.ts';

/**
 * Throws `store.newer` for a file, with the log left beside it, of a format above `newest` and at most `mostLikely`; what is no database
 * is for others to find.
 */
export function refuseNewer(file: string, log: LeftLog, newest: number, mostLikely: number): void {
  const page = log.firstPage ?? startOf(file);
  if (!hasHeader(page)) return;
  const format = formatOf(page);
  if (format > newest && format <= mostLikely) throw newerError(file, format, newest);
}

function startOf(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    return readStart(descriptor, headerBytes);
  } finally {
    closeSync(descriptor);
  }
}
