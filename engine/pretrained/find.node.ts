// What stands at a path: a safetensors file, or a folder with one, or several and their index, and the texts beside them. Files are read by
// ranges; a pickled checkpoint is refused before anything of it is read.

import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { filesFolders, pickles, textFiles } from './paths.node.ts';
import type { FoundModel } from './pretrained.ts';
import { openSafetensors, type ByteSource, type TensorSource } from './safetensors-file.ts';
import { indexName, joinShards, readIndex } from './shards.node.ts';

/** The largest tokenizer files have some 20 MB. */
const largestText = 2 ** 27;

const usualName = 'model.safetensors';

/** A model at a path, and how to let go of its files. */
export interface OpenedModel extends FoundModel {
  close(): Promise<void>;
}

/** Throws InputError `input.missing`, `input.pickled`, `input.no_weights`, `input.unreadable`, and what `openSafetensors` throws. */
export async function openModel(where: string): Promise<OpenedModel> {
  const found = await stat(where).catch((error: unknown) => {
    throw unreadable(where, error);
  });
  const name = path.basename(path.resolve(where)).replace(/^models--(.*--)?/, '');
  const folder = found.isDirectory() ? onlyOne(await filesFolders(where), name) : null;
  const handles: FileHandle[] = [];
  const close = async (): Promise<void> => void (await Promise.all(handles.map((handle) => handle.close())));
  try {
    const tensors = folder === null ? await openFile(where, handles) : await tensorsOf(folder, name, handles);
    const texts = folder === null ? {} : await textsOf(folder);
    return { name, tensors, texts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function onlyOne(folders: readonly string[], name: string): string {
  if (folders.length === 1) return folders[0];
  const names = folders.map((folder) => path.basename(folder));
  throw new InputError(
    'input.no_weights',
    `${name} holds ${names.length} models: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}.`,
    'Choose the folder of one of them.',
  );
}

/** The tensors of a file, which goes to the opened ones. */
async function openFile(file: string, handles: FileHandle[]): Promise<TensorSource> {
  if (pickles.test(file)) throw pickled(path.basename(file));
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  handles.push(handle);
  if (!(await handle.stat()).isFile()) {
    throw new InputError('input.no_weights', `${path.basename(file)} is no file.`, 'Choose a safetensors file.');
  }
  const source = await sourceOf(handle, path.basename(file));
  refuseOtherFormats(source.name, await source.read(0, Math.min(source.size, 16)));
  return openSafetensors(source);
}

/** The tensors of a folder: of one file, or of several by their index. */
async function tensorsOf(folder: string, name: string, handles: FileHandle[]): Promise<TensorSource> {
  const names = (await readdir(folder)).sort();
  if (names.includes(usualName) || !names.includes(indexName)) {
    return openFile(path.join(folder, weightsAmong(names, name)), handles);
  }
  const index = readIndex(await textOf(folder, indexName));
  const files = new Map<string, TensorSource>();
  for (const file of new Set(index.values())) {
    if (!names.includes(file)) {
      const hint = 'Copy all files of the model into the folder.';
      throw new InputError('input.missing', `${name} lacks ${file}, which ${indexName} names.`, hint);
    }
    files.set(file, await openFile(path.join(folder, file), handles));
  }
  return joinShards(name, index, files);
}

async function sourceOf(handle: FileHandle, name: string): Promise<ByteSource> {
  const { size } = await handle.stat();
  return {
    name,
    size,
    async read(start, end) {
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
  };
}

/** The weights file of a folder that has these files. */
function weightsAmong(names: readonly string[], name: string): string {
  const whole = names.filter((file) => /\.safetensors$/i.test(file));
  if (names.includes(usualName)) return usualName;
  if (whole.length === 1) return whole[0];
  if (whole.length > 1) {
    throw new InputError(
      'input.no_weights',
      `${name} has ${whole.length} safetensors files: ${whole.slice(0, 3).join(', ')}${whole.length > 3 ? ', …' : ''}.`,
      `Without ${indexName}, which says what is in which, one file is read: name it, or save the model anew by save_pretrained.`,
    );
  }
  const pickle = names.find((file) => pickles.test(file));
  if (pickle !== undefined) throw pickled(pickle);
  throw new InputError(
    'input.no_weights',
    `${name} has no weights: there is no ${usualName} in it.`,
    'Choose the folder that save_pretrained has written, or a safetensors file.',
  );
}

async function textsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const name of textFiles) {
    const found = await stat(path.join(folder, name)).catch(() => null);
    if (found?.isFile()) texts[name] = await textOf(folder, name);
  }
  return texts;
}

async function textOf(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name);
  const { size } = await stat(file);
  if (size > largestText) {
    throw new InputError('input.unreadable', `${name} has ${size} bytes.`, 'No such file is that large.');
  }
  return readFile(file, 'utf8');
}

/** Formats that are taken for safetensors by their name alone. */
function refuseOtherFormats(name: string, first: Uint8Array): void {
  const starts = (...bytes: number[]): boolean => bytes.every((byte, i) => first[i] === byte);
  const words = new TextDecoder('latin1').decode(first);
  if (words.startsWith('version https')) {
    const hint = 'Fetch the file itself: git lfs pull.';
    throw new InputError('input.no_weights', `${name} is a pointer of Git LFS, not the weights.`, hint);
  }
  if (/^\s*<(!doctype|html|\?xml)/i.test(words)) {
    const hint = 'Download the weights themselves.';
    throw new InputError('input.no_weights', `${name} is a page of the web, not the weights.`, hint);
  }
  if (starts(0x50, 0x4b, 3, 4) || (first[0] === 0x80 && first[1] >= 2 && first[1] <= 5)) throw pickled(name);
  const other = starts(0x47, 0x47, 0x55, 0x46) ? 'GGUF' : starts(0x89, 0x48, 0x44, 0x46) ? 'HDF5' : null;
  if (other === null) return;
  throw new InputError('input.no_weights', `${name} is a ${other} file.`, 'Weights are read from safetensors files.');
}

function pickled(name: string): InputError {
  return new InputError(
    'input.pickled',
    `${name} is a pickled checkpoint: reading one runs whatever program is written in it, so it is not read.`,
    `Convert it where it comes from: python -c "import torch; from safetensors.torch import save_file; save_file({k: v.clone() for k, v in torch.load('${name}', weights_only=True).items()}, 'model.safetensors')".`,
  );
}

function unreadable(where: string, error: unknown): InputError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new InputError('input.missing', `There is no ${where}.`, 'Check the path.');
  return new InputError('input.unreadable', `${where} cannot be read: ${message}.`, 'Check its permissions.');
}
