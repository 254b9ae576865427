// What a person is asked where something is read or written, and writing it there. The dialogs themselves are the system's
// (dialogs.ts); nothing here needs Electron.

import fs from 'node:fs/promises';
import path from 'node:path';
import { TrainyardError } from '../../engine/protocol/errors.ts';

export interface Dialogs {
  /** The chosen path, or null when cancelled. */
  open(kind: 'file' | 'folder' | 'backup'): Promise<string | null>;
  /** Asks where to save under a suggested file name; the path, or null when cancelled. */
  askWhere(suggested: string): Promise<string | null>;
}

/**
 * Asks where, then writes: a temporary file first, so that a full disk leaves no half file. Returns the file's name.
 * `data`: the bytes, or what makes a file of them once it is known that they are wanted. `input`: a file that was read for it and is never written over.
 */
export async function saveThroughDialog(
  dialogs: Dialogs,
  suggested: string,
  data: Uint8Array | (() => Promise<string>),
  input?: string,
): Promise<string | null> {
  const file = await dialogs.askWhere(suggested);
  if (file === null) return null;
  if (input !== undefined && (await isSameFile(file, input))) {
    throw new TrainyardError(
      'store.not_saved',
      `${path.basename(file)} is the file that was read: saving there would replace it.`,
      'Choose another name.',
    );
  }
  const temporary = `${file}.${process.pid}.part`;
  try {
    if (data instanceof Uint8Array) await fs.writeFile(temporary, data);
    else await fs.copyFile(await data(), temporary);
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    if (error instanceof TrainyardError) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new TrainyardError(
      'store.not_saved',
      `${path.basename(file)} could not be saved (${reason}).`,
      'Choose another folder, or free some space there.',
      { cause: error },
    );
  }
  return path.basename(file);
}

/** Whether two paths lead to one file. */
async function isSameFile(first: string, second: string): Promise<boolean> {
  const [one, other] = await Promise.all(
    [first, second].map((file) => fs.stat(file, { bigint: true }).catch(() => null)),
  );
  return one !== null && other !== null && one.dev === other.dev && one.ino === other.ino;
}

/** What a file system makes something of, and what cannot be seen or turns the order of what is read: ends of lines, marks of direction. */
const unfit =
  /[<>:"/\\|?*]|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/** A file name of a name that a person gave, without any of that. */
export function safeName(name: string): string {
  return name.replace(unfit, '-').replace(/^\.+/, '') || 'trainyard';
}
