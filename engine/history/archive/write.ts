// Writing an archive: what it is comes first, the checksums of all files last, and the file appears under its name only after it
// has been read again as a whole. An archive without its last entry is cut short.

import { createHash } from 'node:crypto';
import { rmSync, statfsSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CancelledError, InputError, TrainyardError } from '../../protocol/errors.ts';
import { archiveHeadPath, type ArchiveHead, type ArchiveReport } from '../../protocol/keeping.ts';
import { sha256 } from '../checksums.ts';
import type { FileFact } from '../checksums.ts';
import { codeOf } from '../home.ts';
import { readArchive } from './read.ts';
import { checksumsPath, chunkBytes, encodeHeader, paddingOf, tarEnd } from './tar.ts';
import type { Watched } from './tar.ts';

/** Room left beside what is written. */
const leftBytes = 2 ** 24;

export interface ArchiveWriter {
  /** A file of the disk; one that has gone meanwhile is left out. A later one of the same path counts instead. */
  file(path: string, source: string): Promise<void>;
}

export interface ArchivePlan {
  readonly head: ArchiveHead;
  /** About how much comes. */
  readonly bytes: number;
  readonly stage: string;
  /** Puts the files in. */
  readonly fill: (writer: ArchiveWriter) => Promise<void>;
}

/**
 * Writes an archive and reads it again. Throws InputError `input.write` where it cannot be written, `store.no_room` before or while it does
 * not fit, CancelledError, and leaves nothing then.
 */
export async function writeArchive(file: string, plan: ArchivePlan, watched: Watched): Promise<ArchiveReport> {
  const temporary = `${file}.${process.pid}.part`;
  const remove = (): void => rmSync(temporary, { force: true });
  await refuseFolder(file);
  refuseLittleRoom(file, plan.bytes);
  process.once('exit', remove);
  try {
    const files = await writeAll(temporary, plan, watched);
    const { bytes } = await readArchive(temporary, { ...watched, stage: 'Reading it again', share: [0.5, 1] });
    await rename(temporary, file);
    return { ...plan.head, file, files, bytes };
  } catch (error) {
    throw explain(file, error);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

async function writeAll(temporary: string, plan: ArchivePlan, { onProgress, goOn }: Watched): Promise<number> {
  const handle = await open(temporary, 'wx');
  const facts = new Map<string, FileFact>();
  let written = 0;
  const put = async (data: Uint8Array): Promise<void> => {
    if (!goOn()) throw new CancelledError();
    for (let at = 0; at < data.length;) at += (await handle.write(data, at)).bytesWritten;
    written += data.length;
    // The other half is reading it again.
    onProgress({ stage: plan.stage, share: Math.min(0.5, (0.5 * written) / Math.max(1, plan.bytes)) });
  };
  const text = async (path: string, content: string): Promise<void> => {
    const data = new TextEncoder().encode(content);
    await put(encodeHeader({ path, bytes: data.length, time: plan.head.created }));
    await put(data);
    await put(paddingOf(data.length));
  };
  const copy = async (path: string, source: FileHandle): Promise<void> => {
    const { size, mtimeMs } = await source.stat();
    await put(encodeHeader({ path, bytes: size, time: mtimeMs }));
    const hash = createHash('sha256');
    const buffer = new Uint8Array(Math.min(size, chunkBytes));
    for (let at = 0; at < size;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - at), at);
      if (bytesRead === 0)
        throw new TrainyardError('store.io', `${path} became shorter while it was read.`, 'Try again.');
      hash.update(buffer.subarray(0, bytesRead));
      await put(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    await put(paddingOf(size));
    facts.set(path, { bytes: size, sha256: hash.digest('hex') });
  };
  try {
    await text(archiveHeadPath, JSON.stringify(plan.head));
    await plan.fill({
      async file(path, source) {
        const opened = await open(source, 'r').catch(missingIsNull);
        if (opened === null) return;
        try {
          await copy(path, opened);
        } finally {
          await opened.close();
        }
      },
    });
    const files = JSON.stringify(Object.fromEntries(facts));
    await text(checksumsPath, `{"check":"${sha256(files)}","files":${files}}`);
    await put(tarEnd);
    await handle.sync();
    return facts.size;
  } finally {
    await handle.close();
  }
}

async function refuseFolder(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found !== null && !found.isFile()) throw cannotWrite(file, 'it is no plain file');
}

function refuseLittleRoom(file: string, bytes: number): void {
  let room: { bavail: number; bsize: number };
  try {
    room = statfsSync(dirname(file));
  } catch (error) {
    throw cannotWrite(file, 'its folder is not there', error);
  }
  const free = room.bavail * room.bsize;
  if (free < bytes + leftBytes)
    throw noRoom(file, `about ${megabytes(bytes)} are needed, and ${megabytes(free)} are free`);
}

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;

function noRoom(file: string, what: string, cause?: unknown): InputError {
  return new InputError(
    'store.no_room',
    `The disk of ${file} has no room for it: ${what}.`,
    'Free some space there, or choose another disk. Nothing has been written.',
    { cause },
  );
}

function cannotWrite(file: string, what: string, cause?: unknown): InputError {
  return new InputError('input.write', `${basename(file)} cannot be written: ${what}.`, 'Choose another place.', {
    cause,
  });
}

function explain(file: string, error: unknown): unknown {
  const code = codeOf(error);
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code)) return noRoom(file, 'it became full', error);
  if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR', 'SQLITE_CANTOPEN'].includes(code))
    return cannotWrite(file, `the system says ${code}`, error);
  return error;
}

function missingIsNull(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
