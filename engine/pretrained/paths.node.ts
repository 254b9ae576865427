// What a path is taken for by its name, or by the names in its folder, before anything is read.

import { readdir, stat } from 'node:fs/promises';

/** Files that are pickled, by their names. */
export const pickles = /\.(bin|pt|pth|ckpt|pkl|pickle)$/i;

/** Whether a path is one of a model: what dropping it means. */
export async function isModel(where: string): Promise<boolean> {
  const found = await stat(where).catch(() => null);
  if (found === null) return false;
  if (!found.isDirectory()) return /\.safetensors$/i.test(where) || pickles.test(where);
  const names: readonly string[] = await readdir(where).catch(() => []);
  return names.some((name) => /\.safetensors$/i.test(name) || (pickles.test(name) && names.includes('config.json')));
}
