// A model whose weights lie in several safetensors files, as `save_pretrained` writes those that are larger than its max_shard_size: an index
// says in which file each tensor is.

import { InputError } from '../protocol/errors.ts';
import type { TensorSource } from './safetensors-file.ts';

export const indexName = 'model.safetensors.index.json';

/** The file of each tensor. Throws InputError `input.weights` for an index that is none, or that leads out of its folder. */
export function readIndex(text: string): ReadonlyMap<string, string> {
  const wrong = (what: string): InputError =>
    new InputError(
      'input.weights',
      `${indexName} ${what}.`,
      'Save the model again, or copy it whole from where it comes from.',
    );
  let map: unknown;
  try {
    map = (JSON.parse(text) as { weight_map?: unknown } | null)?.weight_map;
  } catch {
    throw wrong('is no JSON');
  }
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw wrong('has no weight_map');
  const entries = Object.entries(map);
  if (entries.length === 0) throw wrong('names no tensor');
  for (const [tensor, file] of entries) {
    if (typeof file !== 'string' || !/^[^/\\]+\.safetensors$/i.test(file)) {
      throw wrong(`has tensor ${tensor} in ${JSON.stringify(file)}, which is no safetensors file of its folder`);
    }
  }
  return new Map(entries as [string, string][]);
}

/** The tensors of an index out of its opened files. Throws InputError `input.weights` where one is not in the file that the index names. */
export function joinShards(
  name: string,
  index: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, TensorSource>,
): TensorSource {
  const shapes = new Map<string, readonly number[]>();
  for (const [tensor, file] of index) {
    const shape = files.get(file)!.shapes.get(tensor);
    if (shape === undefined) {
      throw new InputError(
        'input.weights',
        `${file} has no tensor ${tensor}, which ${indexName} says is in it.`,
        'The files are of different models or of different saves: copy the model whole from where it comes from.',
      );
    }
    shapes.set(tensor, shape);
  }
  return { name, shapes, read: (tensor) => files.get(index.get(tensor)!)!.read(tensor) };
}
