// The folder everything is kept in. Node's recursive mkdir never ends below /proc, so that a missing folder is made here,
// level by level, before anything else looks at it.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InputError } from '../protocol/errors.ts';

/** Within the home: a folder a run, of what was made of it for other tools. */
export const exportsFolder = 'exports';

/** Makes a folder and those above it. Throws InputError `store.no_folder` or `store.not_a_folder`, or what the system says. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !exists(path) && dirname(path) !== path; path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) makeOne(path, folder);
  if (statSync(folder).isDirectory()) return;
  throw new InputError('store.not_a_folder', `${folder} is not a folder.`, 'Set TRAINYARD_HOME to a folder.');
}

function makeOne(path: string, folder: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (codeOf(error) === 'EEXIST' && exists(path)) return;
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
    throw new InputError(
      'store.no_folder',
      `The folder ${folder} cannot be made.`,
      'Set TRAINYARD_HOME to a folder on a disk.',
      { cause: error },
    );
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The code of a system's error, or ''. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
