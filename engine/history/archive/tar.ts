// The form of a file that holds a home or some runs: a tar archive (POSIX ustar), which any tool opens. Only regular files, by the
// paths they have within the home. Sizes of 8 GiB and more are written as GNU tar writes them, as binary numbers.

import { InputError } from '../../protocol/errors.ts';
import type { JobProgress } from '../../protocol/keeping.ts';

/** The first entry says what the archive is (`archiveHeadPath`), the last one the checksums of all between. */
export const checksumsPath = 'checksums.json';
/** Bytes read or written in one go. */
export const chunkBytes = 2 ** 20;

/** How work that takes long is watched and ended. */
export interface Watched {
  readonly onProgress: (progress: JobProgress) => void;
  readonly goOn: () => boolean;
}

export const blockBytes = 512;
const longestName = 100;
const longestPrefix = 155;
/** Octal digits of a size. */
const sizeDigits = 11;

export interface Entry {
  /** Relative, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Bytes that a file takes in the archive: header, content, and zeros up to the next block. */
export function entryBytes(bytes: number): number {
  return blockBytes + Math.ceil(bytes / blockBytes) * blockBytes;
}

export function paddingOf(bytes: number): Uint8Array {
  return new Uint8Array((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** Two empty blocks end an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * blockBytes);

export function encodeHeader({ path, bytes, time }: Entry): Uint8Array {
  const header = new Uint8Array(blockBytes);
  const put = (at: number, text: string): void => header.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  const [prefix, name] = splitPath(path);
  put(0, name);
  put(100, octal(0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  if (bytes < 8 ** sizeDigits) put(124, octal(bytes, sizeDigits));
  else {
    header[124] = 0x80;
    new DataView(header.buffer).setBigUint64(128, BigInt(bytes));
  }
  put(136, octal(Math.floor(time / 1000), sizeDigits));
  put(156, '0');
  put(257, 'ustar\u000000');
  put(345, prefix);
  put(148, `${octal(checksumOf(header), 6)} `);
  return header;
}

function splitPath(path: string): readonly [prefix: string, name: string] {
  if (path.length <= longestName) return ['', path];
  const slash = path.indexOf('/', path.length - longestName - 1);
  if (slash < 0 || slash > longestPrefix) throw new RangeError(`The path ${path} is too long for an archive.`);
  return [path.slice(0, slash), path.slice(slash + 1)];
}

/** The sum of all bytes, those of the checksum itself counted as spaces. */
function checksumOf(header: Uint8Array): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
}

/** null: the empty block behind the last file. Throws InputError `input.archive` for anything but a header of a regular file. */
export function decodeHeader(header: Uint8Array): Entry | null {
  if (header.every((byte) => byte === 0)) return null;
  const text = (at: number, length: number): string => {
    const part = header.subarray(at, at + length);
    const end = part.indexOf(0);
    return new TextDecoder().decode(end < 0 ? part : part.subarray(0, end));
  };
  const octal = (at: number, length: number): number => Number.parseInt(text(at, length).trim() || '0', 8);
  if (text(257, 5) !== 'ustar' || octal(148, 8) !== checksumOf(header)) throw noArchive('it is no archive');
  if (!['0', '\0', ''].includes(text(156, 1))) throw noArchive('it holds something that is no plain file');
  const size =
    header[124] === 0x80
      ? Number(new DataView(header.buffer, header.byteOffset).getBigUint64(128))
      : octal(124, sizeDigits + 1);
  if (!Number.isSafeInteger(size) || size < 0) throw noArchive('a file in it has no size');
  const prefix = text(345, longestPrefix);
  return {
    path: prefix ? `${prefix}/${text(0, longestName)}` : text(0, longestName),
    bytes: size,
    time: 1000 * octal(136, 12),
  };
}

/** `what` is part of a sentence. */
export function noArchive(what: string): InputError {
  return new InputError(
    'input.archive',
    `The file is no whole backup of Trainyard: ${what}.`,
    'Give a backup, or a file of runs, as Trainyard has written it, or another copy of it.',
  );
}
