// The files below a folder, as sorted relative paths. Hidden files and what systems leave behind do not count.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { Job } from '../jobs.ts';
import { compareText } from './picture.ts';

/** What a folder holds. */
export interface FolderContent {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Left behind by file managers and archivers. */
const litter = new Set(['__MACOSX', 'Thumbs.db', 'desktop.ini', 'Desktop.ini']);
/** Folders within each other that are followed: links may lead in circles. */
const deepest = 24;

/** Lists a folder, sorted by characters; links count as what they lead to. */
export async function listFolder(folder: string): Promise<FolderContent> {
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(refuse(folder))) {
    if (entry.name.startsWith('.') || litter.has(entry.name)) continue;
    const kind = entry.isSymbolicLink() ? await stat(join(folder, entry.name)).catch(() => entry) : entry;
    if (kind.isDirectory()) folders.push(entry.name);
    else files.push(entry.name);
  }
  return { files: files.sort(compareText), folders: folders.sort(compareText) };
}

/** All files below a folder, as paths relative to it with `/`, sorted. */
export async function walkFiles(folder: string, job: Job): Promise<string[]> {
  const found: string[] = [];
  const visit = async (within: string, depth: number): Promise<void> => {
    job.throwIfCancelled();
    const { files, folders } = await listFolder(join(folder, within));
    for (const file of files) found.push(within + file);
    if (depth === deepest) return;
    for (const name of folders) await visit(`${within}${name}/`, depth + 1);
  };
  await visit('', 0);
  return found.sort(compareText);
}

function refuse(folder: string): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new InputError('input.unreadable', `${folder} may not be read.`, 'Give yourself permission to read it.');
  };
}
