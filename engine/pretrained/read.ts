// From what was found at a path to a model: a folder with a config.json is one of Hugging Face, anything else a picture model.

import type { FoundModel, Pretrained, ReadOptions } from './pretrained.ts';
import { readPicturesNet } from './read-pictures.ts';
import { readTextNet } from './read-texts.ts';

/** Throws InputError `input.architecture` for one that is not known, `input.weights` where tensors are missing or misshapen. */
export async function readPretrained(found: FoundModel, options: ReadOptions): Promise<Pretrained> {
  const { architecture } = options;
  const isText = found.texts['config.json'] !== undefined && architecture === undefined;
  return isText ? readTextNet(found, options) : readPicturesNet(found, options);
}
