// A look at the write-ahead log that a killed process left (sqlite.org/fileformat2.html#walformat). SQLite reads it up to the
// first frame that does not fit and drops the rest in silence: right for a frame that was being written when the process died,
// wrong for a log damaged in its middle. The difference: behind damage there are more frames of the same log.

import { readFileSync, statSync } from 'node:fs';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Larger logs are taken as they are. */
const largestLog = 2 ** 28;

/** Whether a log was damaged after it had been written; false where there is none. */
export function isLogDamaged(databaseFile: string): boolean {
  const file = `${databaseFile}-wal`;
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > largestLog) return false;
  const log = readFileSync(file);
  if (!damagedIn(log)) return false;
  // Another process may have been writing: damage stays as it is.
  return log.equals(readFileSync(file));
}

/** The newest first page in the log, as far as its transactions are whole; null: there is none, or no such page. */
export function firstPageInLog(databaseFile: string): Buffer | null {
  const file = `${databaseFile}-wal`;
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= headerBytes || size > largestLog) return null;
  const log = readFileSync(file);
  const pageBytes = log.readUInt32BE(8);
  let [found, written]: (Buffer | null)[] = [null, null];
  for (let at = headerBytes; at + frameHeaderBytes + pageBytes <= log.length; at += frameHeaderBytes + pageBytes) {
    // Frames of an earlier log have other salts.
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
    const [page, commits] = [log.readUInt32BE(at), log.readUInt32BE(at + 4) > 0];
    if (page === 1) written = log.subarray(at + frameHeaderBytes, at + frameHeaderBytes + pageBytes);
    if (commits) found = written;
  }
  return found;
}

function damagedIn(log: Buffer): boolean {
  if (log.length < headerBytes) return true;
  const magic = log.readUInt32BE(0);
  const bigEndian = magic === 0x377f0683;
  if (!bigEndian && magic !== 0x377f0682) return true;
  const pageBytes = log.readUInt32BE(8);
  let sums = checksum(log, 0, 24, [0, 0], bigEndian);
  if (!sumsAt(log, 24, sums) || pageBytes < 512 || pageBytes > 65_536) return true;

  const frameBytes = frameHeaderBytes + pageBytes;
  const frames = Math.floor((log.length - headerBytes) / frameBytes);
  const start = (frame: number): number => headerBytes + frame * frameBytes;
  const isOfThisLog = (frame: number): boolean => log.compare(log, 16, 24, start(frame) + 8, start(frame) + 16) === 0;
  for (let frame = 0; frame < frames; frame++) {
    if (isOfThisLog(frame)) {
      const header = checksum(log, start(frame), 8, sums, bigEndian);
      sums = checksum(log, start(frame) + frameHeaderBytes, pageBytes, header, bigEndian);
      if (sumsAt(log, start(frame) + 16, sums)) continue;
    }
    // Here SQLite stops. Frames of an earlier log may follow, and none of this one.
    for (let later = frame + 1; later < frames; later++) if (isOfThisLog(later)) return true;
    return false;
  }
  return false;
}

type Sums = readonly [number, number];

function checksum(log: Buffer, offset: number, bytes: number, [first, second]: Sums, bigEndian: boolean): Sums {
  const view = new DataView(log.buffer, log.byteOffset + offset, bytes);
  for (let i = 0; i < bytes; i += 8) {
    first = (first + view.getUint32(i, !bigEndian) + second) >>> 0;
    second = (second + view.getUint32(i + 4, !bigEndian) + first) >>> 0;
  }
  return [first, second];
}

function sumsAt(log: Buffer, offset: number, [first, second]: Sums): boolean {
  return log.readUInt32BE(offset) === first && log.readUInt32BE(offset + 4) === second;
}
