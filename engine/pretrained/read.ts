// From what was found at a path to a model: a picture model by its tensors.

import type { FoundModel, Pretrained, ReadOptions } from './pretrained.ts';
import { readPicturesNet } from './read-pictures.ts';

/** Throws InputError `input.architecture` for one that is not known, `input.weights` where tensors are missing or misshapen. */
export async function readPretrained(found: FoundModel, options: ReadOptions): Promise<Pretrained> {
  return readPicturesNet(found, options);
}
