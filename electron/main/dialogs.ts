// The system's open and save dialogs, the only way by which anything is read from or written to a place the person names.

import fs from 'node:fs/promises';
import path from 'node:path';
import { app, dialog, type BrowserWindow } from 'electron';
import { TrainyardError } from '../../engine/protocol/errors.ts';

export interface Dialogs {
  /** The chosen path, or null when cancelled. */
  open(kind: 'file' | 'folder'): Promise<string | null>;
  /** Asks where to save under a suggested file name; the path, or null when cancelled. */
  askWhere(suggested: string): Promise<string | null>;
}

const tables = ['csv', 'tsv', 'txt', 'parquet', 'jsonl', 'ndjson', 'json', 'gz'];

export function createDialogs(window: () => BrowserWindow): Dialogs {
  return {
    async open(kind) {
      const { canceled, filePaths } = await dialog.showOpenDialog(window(), {
        title: kind === 'file' ? 'Open a table' : 'Open a folder of images',
        properties: [kind === 'file' ? 'openFile' : 'openDirectory'],
        filters:
          kind === 'file'
            ? [
                { name: 'Tables', extensions: tables },
                { name: 'All files', extensions: ['*'] },
              ]
            : [],
      });
      return canceled || filePaths.length === 0 ? null : filePaths[0];
    },
    async askWhere(suggested) {
      const folder = app.getPath('documents');
      const { canceled, filePath } = await dialog.showSaveDialog(window(), {
        defaultPath: path.join(folder, safeName(suggested)),
      });
      return canceled || !filePath ? null : filePath;
    },
  };
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
