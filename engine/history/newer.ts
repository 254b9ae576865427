// Was history.db written by a newer program? Asked before anything is opened: SQLite changes a file, and takes up its log, in opening
// and closing it, and what a newer program wrote is not to be touched.

import { closeSync, openSync, readSync } from 'node:fs';
import { newerError } from './migrations.ts';
import { firstPageInLog } from './wal.ts';

/** The header of a database, and where its format is named in it (sqlite.org/fileformat2.html#the_database_header). */
const [headerBytes, formatAt] = [100, 60];

/** Throws `store.newer` for a file of a format above `newest` and at most `mostLikely`; what is no database is for others to find. */
export function refuseNewer(file: string, newest: number, mostLikely: number): void {
  const page = firstPageInLog(file) ?? headerOf(file);
  if (page.toString('latin1', 0, 16) !== 'SQLite format 3\0') return;
  const format = page.readInt32BE(formatAt);
  if (format > newest && format <= mostLikely) throw newerError(file, format, newest);
}

/** Its first bytes; none where it cannot be read or has fewer. */
function headerOf(file: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  try {
    const descriptor = openSync(file, 'r');
    try {
      return header.subarray(0, readSync(descriptor, header, 0, headerBytes, 0) === headerBytes ? headerBytes : 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return header.subarray(0, 0);
  }
}
