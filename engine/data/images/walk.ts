// The files below a folder, as sorted relative paths. Hidden files and what systems leave behind do not count.

import { readdir, realpath, stat } from 'node:fs/promises';
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

/** Lists a folder, sorted by characters; links count as what they lead to. @throws InputError if it may not be read. */
export async function listFolder(folder: string): Promise<FolderContent> {
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(refuse(folder))) {
    if (entry.name.startsWith('.') || litter.has(entry.name)) continue;
    const kind = entry.isSymbolicLink() ? await stat(join(folder, entry.name)).catch(() => entry) : entry;
    if (kind.isDirectory()) folders.push(entry.name);
    // A link that leads nowhere is listed as a file that is gone; pipes and sockets are nothing to read.
    else if (kind.isFile() || kind.isSymbolicLink()) files.push(entry.name);
  }
  return { files: files.sort(compareText), folders: folders.sort(compareText) };
}

/** All files below a folder, as paths relative to it with `/`, sorted. Folders that may not be read count as files. */
export async function walkFiles(folder: string, job: Job): Promise<string[]> {
  const found: string[] = [];
  /** `above`: the real paths of the folders that `within` is in. */
  const visit = async (within: string, above: readonly string[]): Promise<void> => {
    job.throwIfCancelled();
    const path = join(folder, within);
    const real = await realpath(path);
    // A link that leads back up.
    if (above.includes(real)) return;
    const content = await listFolder(path).catch((error: unknown) => {
      if (within === '' || !(error instanceof InputError)) throw error;
      return null;
    });
    if (content === null) return void found.push(within.slice(0, -1));
    for (const file of content.files) found.push(within + file);
    for (const name of content.folders) await visit(`${within}${name}/`, [...above, real]);
  };
  await visit('', []);
  return found.sort(compareText);
}

function refuse(folder: string): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new InputError('input.unreadable', `${folder} may not be read.`, 'Give yourself permission to read it.');
  };
}
