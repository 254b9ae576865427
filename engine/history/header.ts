// The header of a database (sqlite.org/fileformat2.html#the_database_header), read without opening it: SQLite changes a file, and
// takes up its log, in opening and closing it.

import { readSync } from 'node:fs';

/** Bytes of the header, which begins the first page. */
export const headerBytes = 100;

/** Where the header says what. */
const [formatAt, applicationAt] = [60, 68];

/** Up to so many bytes from the beginning of a file. */
export function readStart(descriptor: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, 0));
}

/** Whether bytes begin with a whole header. */
export const hasHeader = (page: Buffer): boolean =>
  page.length >= headerBytes && page.toString('latin1', 0, 16) === 'SQLite format 3\0';

/** The version of what is kept in it (`PRAGMA user_version`). */
export const formatOf = (page: Buffer): number => page.readInt32BE(formatAt);

/** The program whose file it is (`PRAGMA application_id`). */
export const applicationOf = (page: Buffer): number => page.readUInt32BE(applicationAt);
