// What a person is asked where something is read or written, and writing it there. The dialogs themselves are the system's
// (dialogs.ts); nothing here needs Electron.

import fs from 'node:fs/promises';
import path from 'node:path';
import { TrainyardError } from '../../engine/protocol/errors.ts';

export interface Dialogs {
  /** The chosen path, or null when cancelled. */
  open(kind: 'file' | 'folder'): Promise<string | null>;
  /** Asks where to save under a suggested file name; the path, or null when cancelled. */
  askWhere(suggested: string): Promise<string | null>;
}

/** Asks where, then writes: a temporary file first, so that a full disk leaves no half file. Returns the file's name. */
export async function saveThroughDialog(dialogs: Dialogs, suggested: string, data: Uint8Array): Promise<string | null> {
  const file = await dialogs.askWhere(suggested);
  if (file === null) return null;
  const temporary = `${file}.${process.pid}.part`;
  try {
    await fs.writeFile(temporary, data);
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true });
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

/** A file name without anything that means something to a file system. */
export function safeName(name: string): string {
  return name.replace(/[\u0000-\u001f<>:"/\\|?*]/g, '-').replace(/^\.+/, '') || 'trainyard';
}
