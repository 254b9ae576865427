// The way in: what at a path holds pictures, and how to read it.

import { InputError } from '../../protocol/errors.ts';
import type { DatabaseLimits } from '../database.ts';
import type { Job } from '../jobs.ts';
import { isArrayFile, openArrayFile, openArrayFolder } from './arrays/source.ts';
import { fileSource } from './files.ts';
import { readLayout, unwrapFolder } from './folder.ts';
import type { PictureSource } from './source.ts';
import { walkFiles } from './walk.ts';

/** Something at a path. */
export interface FoundPath {
  readonly path: string;
  readonly name: string;
  readonly folder: boolean;
}

/** Whether what stands at a path is read as pictures: folders and arrays are. */
export function holdsPictures({ folder, name }: FoundPath): boolean {
  return folder || isArrayFile(name);
}

/**
 * Opens a folder or a file of arrays.
 * @throws InputError if it holds no pictures or nothing says their classes.
 */
export async function openPictures(
  { path, name, folder }: FoundPath,
  work: { readonly limits: DatabaseLimits; readonly workFolder: string; readonly job: Job },
): Promise<PictureSource> {
  work.job.stage('Looking for pictures');
  if (!folder) return openArrayFile(path);
  const root = await unwrapFolder(path);
  const files = await walkFiles(root, work.job);
  if (files.length === 0) {
    throw new InputError(
      'input.empty',
      `${name} is an empty folder.`,
      'Choose a folder with one sub-folder a class, or pictures with a labels.csv beside them.',
    );
  }
  const arrays = files.filter(isArrayFile);
  if (2 * arrays.length >= files.length) return openArrayFolder(root, arrays, name);
  return fileSource(root, await readLayout({ folder: root, name, files, ...work }));
}
