// Two megabytes kept for a full disk, `history.reserve`: throwing away and purging need room to write, too. They give the
// reserve up where they would fail, and it is made again when there is room.

import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isFull } from './failures.ts';

const reserveBytes = 2 ** 21;
/** The reserve is made where this much more than itself is free. */
const roomFactor = 4;

const reserveFile = (home: string): string => join(home, 'history.reserve');

/** Makes the reserve if it is not there and the disk has room for it. */
export function keepReserve(home: string): void {
  const file = reserveFile(home);
  if (statSync(file, { throwIfNoEntry: false })?.size === reserveBytes) return;
  try {
    const { bavail, bsize } = statfsSync(home);
    if (bavail * bsize < roomFactor * reserveBytes) return;
    const descriptor = openSync(file, 'w');
    try {
      // Not zeros: a file system may store those as nothing.
      const block = Uint8Array.from({ length: 2 ** 16 }, (_, index) => (index * 2_654_435_761) >>> 13);
      for (let written = 0; written < reserveBytes; written += block.length) writeSync(descriptor, block);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    rmSync(file, { force: true });
  }
}

/** Gives the reserve up; false if there was none. */
export function releaseReserve(home: string): boolean {
  const had = statSync(reserveFile(home), { throwIfNoEntry: false }) !== undefined;
  if (had) rmSync(reserveFile(home), { force: true });
  return had;
}

/** Does something that has to succeed on a full disk, too; `work` leaves nothing half-done where it throws. */
export function withReserve<Result>(home: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isFull(error, home) || !releaseReserve(home)) throw error;
    return work();
  }
}
