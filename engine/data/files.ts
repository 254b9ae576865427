// The file a person gives us: is it there, is it a file, how does it begin.

import { open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { headBytes } from './formats/format.ts';
import type { FileHead } from './formats/format.ts';

/** What stands at a path. @throws InputError if nothing does, or it may not be read. */
export async function inspectPath(
  path: string,
): Promise<{ path: string; name: string; size: number; folder: boolean }> {
  const absolute = resolve(path);
  try {
    const found = await stat(absolute);
    if (!found.isFile() && !found.isDirectory()) {
      throw new InputError(
        'input.no_file',
        `${path} is neither a file nor a folder, but a pipe or a device.`,
        'Write what comes out of it to a file, and choose that.',
      );
    }
    return { path: absolute, name: basename(absolute), size: found.size, folder: found.isDirectory() };
  } catch (error) {
    throw explainAccess(error, path);
  }
}

/** What a file without content should hold: a text need be no table. */
export const contentHint = (name: string): string =>
  /\.(txt|md|text)$/i.test(name)
    ? 'Choose a text to learn from, or a table with a header line and rows.'
    : 'Choose a file with a header line and rows.';

/** Reads the beginning of a file. @throws InputError if it is empty or may not be read. */
export async function readHead(path: string, name: string, size: number): Promise<FileHead> {
  if (size === 0) {
    throw new InputError('input.empty', `${name} is empty (0 bytes).`, contentHint(name));
  }
  try {
    const file = await open(path, 'r');
    try {
      const buffer = new Uint8Array(Math.min(size, headBytes));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      return { path, name, size, bytes: buffer.subarray(0, bytesRead) };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw explainAccess(error, path);
  }
}

function explainAccess(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new InputError(
      'input.missing_file',
      `There is no file or folder at ${path}.`,
      'Check the path and its spelling.',
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new InputError('input.unreadable', `${path} may not be read.`, 'Give yourself permission to read it.');
  }
  if (code === 'ELOOP') {
    return new InputError(
      'input.unreadable',
      `The links at ${path} lead in a circle.`,
      'Choose the file or folder that they were to lead to.',
    );
  }
  return error;
}

/** The refusal of a folder where a table is needed. */
export function refuseFolder(name: string): InputError {
  return new InputError(
    'input.folder',
    `${name} is a folder, not a table.`,
    'Choose a file: CSV, TSV, Parquet, Arrow or JSON lines.',
  );
}
