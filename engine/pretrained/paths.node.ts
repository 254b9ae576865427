// What a path is taken for by its name, or by the names in its folder, before anything is read.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isReturned } from '../protocol/returned.ts';

/** Files that are pickled, by their names. */
export const pickles = /\.(bin|pt|pth|ckpt|pkl|pickle)$/i;

const configName = 'config.json';
/** What says how a model reads its texts. */
const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.txt',
  'vocab.json',
  'merges.txt',
];
/** Texts of a folder that say what the model is and how it reads. */
export const textFiles: readonly string[] = [configName, ...tokenizerFiles];

/** Whether a path is one of a model: what dropping it means. A folder is one without its weights too: that they are missing is to be said. */
export async function isModel(where: string): Promise<boolean> {
  const found = await stat(where).catch(() => null);
  if (found === null) return false;
  if (!found.isDirectory()) return /\.safetensors$/i.test(where) || pickles.test(where);
  const folder = await snapshotOf(where);
  return (await holdsModel(folder)) || (await modelsWithin(folder)).length > 0;
}

/**
 * Where the files of a folder lie: of one that Hugging Face's programs keep (`models--OWNER--NAME`) in the snapshot that `refs/main` names, of one
 * around the folder of a model, as archives make them, in that. Several where it is around several.
 */
export async function filesFolders(where: string): Promise<readonly string[]> {
  const folder = await snapshotOf(where);
  const within = (await holdsModel(folder)) ? [] : await modelsWithin(folder);
  return within.length === 0 ? [folder] : within.map((name) => path.join(folder, name));
}

/** Whether the files of a model lie in this very folder. */
async function holdsModel(folder: string): Promise<boolean> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  if (names.some((name) => /\.safetensors(\.index\.json)?$/i.test(name)) || isReturned(names)) return true;
  return names.includes(configName) && names.some((name) => pickles.test(name) || tokenizerFiles.includes(name));
}

/** Sub-folders that are looked into at most: pictures have one a class. */
const mostWithin = 50;

/** Sub-folders that hold a model, in order; none where any other does not, such as one of pictures. What archives and systems add does not count. */
async function modelsWithin(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() && !/^(\.|__)/.test(entry.name))
    .map(({ name }) => name);
  if (folders.length > mostWithin) return [];
  for (const name of folders) if (!(await holdsModel(path.join(folder, name)))) return [];
  return folders.sort(new Intl.Collator('en', { numeric: true }).compare);
}

async function snapshotOf(folder: string): Promise<string> {
  const main = await readFile(path.join(folder, 'refs', 'main'), 'utf8').catch(() => null);
  if (main === null) return folder;
  const snapshot = path.join(folder, 'snapshots', path.basename(main.trim()));
  return (await stat(snapshot).catch(() => null))?.isDirectory() ? snapshot : folder;
}
