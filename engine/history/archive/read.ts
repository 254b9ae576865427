// Reading an archive: every byte is read and compared with its checksum, whether it is only looked at or taken out.

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CancelledError, InputError } from '../../protocol/errors.ts';
import { archiveHeadPath, type ArchiveHead } from '../../protocol/keeping.ts';
import { fileFact, sha256 } from '../checksums.ts';
import type { FileFact } from '../checksums.ts';
import { codeOf } from '../home.ts';
import { blockBytes, checksumsPath, chunkBytes, decodeHeader, noArchive, paddingOf } from './tar.ts';
import type { Watched } from './tar.ts';

const largestText = 2 ** 28;

const headSchema = z.looseObject({
  format: z.int().min(1),
  kind: z.enum(['home', 'runs']),
  created: z.number(),
  machine: z.string().max(300),
  runs: z.int().min(0),
  datasets: z.int().min(0),
});
const checksumsSchema = z.strictObject({ check: z.string(), files: z.record(z.string(), fileFact) });

/** What may stand in an archive, and so be put into a home. */
const places = [
  /^history\.db$/,
  /^hardware\/catalogue\.json$/,
  /^runs\/[1-9]\d{0,14}(\/\w[\w.-]{0,80}){1,3}$/,
  /^datasets\/[0-9a-f]{16,64}(\/\w[\w.-]{0,80}){1,3}$/,
];

export interface ReadOptions extends Watched {
  readonly stage: string;
  /** The part of the progress that this is: from, to. */
  readonly share: readonly [number, number];
  /** A folder that the files are taken out to; without one they are only looked at. */
  readonly into?: string;
}

export interface ReadArchive {
  readonly head: ArchiveHead;
  readonly bytes: number;
  /** Paths of the files. */
  readonly files: readonly string[];
}

/** Throws InputError `input.archive` for a file that is none, or not whole, `input.file` for one that cannot be read, CancelledError. */
export async function readArchive(file: string, options: ReadOptions): Promise<ReadArchive> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    throw new InputError('input.file', `${file} cannot be read: ${codeOf(error)}.`, 'Give the file of a backup.', {
      cause: error,
    });
  }
  try {
    return await readEntries(handle, options);
  } finally {
    await handle.close();
  }
}

async function readEntries(handle: FileHandle, options: ReadOptions): Promise<ReadArchive> {
  const { size } = await handle.stat();
  const [from, to] = options.share;
  const facts = new Map<string, FileFact>();
  let head: ArchiveHead | null = null;
  let at = 0;
  for (;;) {
    const entry = decodeHeader(await exactly(handle, at, blockBytes));
    if (entry === null) throw noArchive('its list of checksums is missing');
    const { path, bytes } = entry;
    at += blockBytes;
    const isText = path === archiveHeadPath || path === checksumsPath;
    if (at + bytes > size) throw noArchive('it is cut short');
    if (isText && bytes > largestText) throw noArchive(`${path} is too large`);
    if (path === archiveHeadPath && head === null) head = decodeHead(await exactly(handle, at, bytes));
    else if (head === null) throw noArchive('it does not say what it is');
    else if (path === checksumsPath) {
      compare(await exactly(handle, at, bytes), facts);
      return { head, bytes: size, files: [...facts.keys()] };
    } else {
      if (!places.some((place) => place.test(path))) throw noArchive(`${path.slice(0, 200)} has no place in a home`);
      const target = options.into === undefined ? null : join(options.into, ...path.split('/'));
      const progress = (done: number): void => {
        if (!options.goOn()) throw new CancelledError();
        options.onProgress({ stage: options.stage, share: from + ((to - from) * (at + done)) / size });
      };
      facts.set(path, { bytes, sha256: await take(handle, at, bytes, target, progress) });
    }
    at += bytes + paddingOf(bytes).length;
  }
}

function decodeHead(data: Uint8Array): ArchiveHead {
  const head = headSchema.safeParse(parse(data)).data;
  if (head === undefined) throw noArchive('it does not say what it is');
  if (head.format !== 1) {
    throw new InputError(
      'input.archive',
      `The file was written by a newer Trainyard (form ${head.format} of backups; this one knows 1).`,
      'Update Trainyard.',
    );
  }
  return { ...head, format: 1 };
}

function compare(list: Uint8Array, found: ReadonlyMap<string, FileFact>): void {
  const parsed = checksumsSchema.safeParse(parse(list)).data;
  if (parsed === undefined || sha256(JSON.stringify(parsed.files)) !== parsed.check) {
    throw noArchive('its list of checksums is damaged');
  }
  const wanted = new Map(Object.entries(parsed.files));
  for (const path of new Set([...wanted.keys(), ...found.keys()])) {
    const [want, have] = [wanted.get(path), found.get(path)];
    if (want?.sha256 === have?.sha256 && want?.bytes === have?.bytes) continue;
    throw noArchive(have === undefined ? `${path} is missing in it` : `${path} in it is not what was written`);
  }
}

function parse(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return null;
  }
}

/** Reads a file, and writes it where it is to go; returns its checksum. */
async function take(
  handle: FileHandle,
  from: number,
  bytes: number,
  target: string | null,
  onProgress: (done: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  if (target !== null) mkdirSync(dirname(target), { recursive: true });
  // A later entry of a path counts instead of an earlier one.
  const output = target === null ? null : await open(target, 'w');
  try {
    const buffer = new Uint8Array(Math.min(bytes, chunkBytes));
    for (let done = 0; done < bytes;) {
      onProgress(done);
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, bytes - done), from + done);
      if (bytesRead === 0) throw noArchive('it is cut short');
      const part = buffer.subarray(0, bytesRead);
      hash.update(part);
      for (let at = 0; output !== null && at < part.length;) at += (await output.write(part, at)).bytesWritten;
      done += bytesRead;
    }
    await output?.sync();
  } finally {
    await output?.close();
  }
  return hash.digest('hex');
}

async function exactly(handle: FileHandle, at: number, bytes: number): Promise<Uint8Array> {
  const data = new Uint8Array(bytes);
  let read = 0;
  while (read < bytes) {
    const { bytesRead } = await handle.read(data, read, bytes - read, at + read);
    if (bytesRead === 0) throw noArchive(at === 0 ? 'it is too short' : 'it is cut short');
    read += bytesRead;
  }
  return data;
}
