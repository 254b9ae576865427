// A look at the write-ahead log that a killed process left (sqlite.org/fileformat2.html#walformat). SQLite reads it up to the
// first frame that does not fit and drops the rest in silence: right for a frame that was being written when the process died,
// wrong for a log damaged in its middle. The difference: behind damage there are more frames of the same log.

import { readFileSync, statSync } from 'node:fs';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Larger logs are taken as they are. */
const largestLog = 2 ** 28;

/** What a log says before SQLite has taken it up. */
export interface LeftLog {
  /** It was damaged after it had been written. */
  readonly isDamaged: boolean;
  /** The newest first page of its whole transactions; null: none of them wrote it. */
  readonly firstPage: Buffer | null;
}

const noLog: LeftLog = { isDamaged: false, firstPage: null };

/** Reads the log beside a database once; one that is not there, or goes meanwhile, says nothing. */
export function readLeftLog(databaseFile: string): LeftLog {
  const file = `${databaseFile}-wal`;
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const log = bytes === 0 || bytes > largestLog ? null : bytesOf(file);
  if (log === null) return noLog;
  const found = look(log);
  // Another process may have been writing: damage stays as it is.
  return found.isDamaged && bytesOf(file)?.equals(log) !== true ? noLog : found;
}

/** null: it has gone, or been emptied. */
function bytesOf(file: string): Buffer | null {
  try {
    const bytes = readFileSync(file);
    return bytes.length === 0 ? null : bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function look(log: Buffer): LeftLog {
  const damagedLog: LeftLog = { isDamaged: true, firstPage: null };
  if (log.length < headerBytes) return damagedLog;
  const magic = log.readUInt32BE(0);
  const bigEndian = magic === 0x377f0683;
  if (!bigEndian && magic !== 0x377f0682) return damagedLog;
  const pageBytes = log.readUInt32BE(8);
  let sums = checksum(log, 0, 24, [0, 0], bigEndian);
  if (!sumsAt(log, 24, sums) || pageBytes < 512 || pageBytes > 65_536) return damagedLog;

  const frameBytes = frameHeaderBytes + pageBytes;
  const frames = Math.floor((log.length - headerBytes) / frameBytes);
  const start = (frame: number): number => headerBytes + frame * frameBytes;
  const isOfThisLog = (frame: number): boolean => log.compare(log, 16, 24, start(frame) + 8, start(frame) + 16) === 0;
  let [firstPage, written]: (Buffer | null)[] = [null, null];
  for (let frame = 0; frame < frames; frame++) {
    const [header, page] = [start(frame), start(frame) + frameHeaderBytes];
    if (isOfThisLog(frame)) {
      sums = checksum(log, page, pageBytes, checksum(log, header, 8, sums, bigEndian), bigEndian);
      if (sumsAt(log, header + 16, sums)) {
        const [number, pagesAtCommit] = [log.readUInt32BE(header), log.readUInt32BE(header + 4)];
        if (number === 1) written = log.subarray(page, page + pageBytes);
        if (pagesAtCommit > 0) firstPage = written;
        continue;
      }
    }
    // Here SQLite stops. Frames of an earlier log may follow, and none of this one.
    for (let later = frame + 1; later < frames; later++) if (isOfThisLog(later)) return damagedLog;
    break;
  }
  return { isDamaged: false, firstPage };
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
