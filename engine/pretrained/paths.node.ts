// What a path is taken for by its name, or by the names in its folder, before anything is read.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

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
  const names: readonly string[] = await readdir(await filesFolder(where)).catch(() => []);
  if (names.some((name) => /\.safetensors(\.index\.json)?$/i.test(name))) return true;
  return names.includes(configName) && names.some((name) => pickles.test(name) || tokenizerFiles.includes(name));
}

/** Where the files of a folder lie: of one that Hugging Face's programs keep (`models--OWNER--NAME`) in the snapshot that `refs/main` names. */
export async function filesFolder(folder: string): Promise<string> {
  const main = await readFile(path.join(folder, 'refs', 'main'), 'utf8').catch(() => null);
  if (main === null) return folder;
  const snapshot = path.join(folder, 'snapshots', path.basename(main.trim()));
  return (await stat(snapshot).catch(() => null))?.isDirectory() ? snapshot : folder;
}
