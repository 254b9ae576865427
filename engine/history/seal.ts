// The seal of the history's file, `history.db-seal`: what the file looked like when it was last closed. SQLite itself finds
// damage to the structure of its pages only; a changed value within a row it hands out as it is. The seal finds any change.
//
// A clean close seals the file; the first write breaks the seal by saying `open`, and `closing` when it is done: a history that
// is `open` without its write-ahead log has lost what was written last.

import {
  closeSync,
  fsyncSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

export type Seal =
  | { readonly state: 'open' | 'closing' }
  /** Bytes of the file, and the CRC-32 of each mebibyte of it. */
  | { readonly state: 'closed'; readonly bytes: number; readonly parts: readonly number[] };

export const partBytes = 2 ** 20;

const sealFile = (file: string): string => `${file}-seal`;

/** null: there is none that can be read. */
export function readSeal(file: string): Seal | null {
  try {
    const text = readFileSync(sealFile(file), 'utf8');
    const space = text.indexOf(' ');
    const json = text.slice(space + 1);
    return Number.parseInt(text.slice(0, space), 16) === crc32(json) ? (JSON.parse(json) as Seal) : null;
  } catch {
    return null;
  }
}

export function writeSeal(file: string, seal: Seal): void {
  const json = JSON.stringify(seal);
  const temporary = `${sealFile(file)}.${process.pid}.tmp`;
  const descriptor = openSync(temporary, 'w');
  try {
    writeSync(descriptor, `${crc32(json).toString(16)} ${json}`);
    // What follows may be on the disk before this is: a seal must not outlive what it seals, not even in a power cut.
    if (seal.state === 'open') fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, sealFile(file));
  if (seal.state === 'open') flushFolder(dirname(file));
}

/** Without a seal a history is looked at more closely when it is opened. */
export function removeSeal(file: string): void {
  rmSync(sealFile(file), { force: true });
}

function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The seal that an open file would get. */
export function sealOf(descriptor: number): Seal {
  const { size } = fstatSync(descriptor);
  return { state: 'closed', bytes: size, parts: [...partsOf(descriptor)] };
}

/** Checksums of the parts of an open file, one after the other. */
export function* partsOf(descriptor: number): Generator<number> {
  const buffer = new Uint8Array(partBytes);
  for (let position = 0; ;) {
    const read = readSync(descriptor, buffer, 0, partBytes, position);
    if (read === 0) return;
    yield crc32(buffer.subarray(0, read));
    position += read;
  }
}

/** Whether a file that nobody has open is what its seal says; true without a seal. */
export function fitsSeal(file: string): boolean {
  const seal = readSeal(file);
  if (seal?.state !== 'closed') return true;
  const descriptor = openSync(file, 'r');
  try {
    if (fstatSync(descriptor).size !== seal.bytes) return false;
    let index = 0;
    for (const part of partsOf(descriptor)) if (part !== seal.parts[index++]) return false;
    return index === seal.parts.length;
  } finally {
    closeSync(descriptor);
  }
}
