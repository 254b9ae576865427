// What a dataset takes: the file a person gave, and the copy that was made of it. Two figures, so each says which it is.

import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { bytes } from './format.ts';

type Sizes = Pick<DatasetInfo, 'kind' | 'bytes' | 'sourceBytes'>;

/** `85 MB file`, or `72 MB copy` where nothing is known of the file. */
export function sizeText({ kind, sourceBytes, bytes: copy }: Sizes): string {
  if (sourceBytes === null) return `${bytes(copy)} copy`;
  return `${bytes(sourceBytes)} ${kind === 'images' ? 'of files' : 'file'}`;
}

/** Both, in a sentence. */
export function sizeTitle({ sourceBytes, bytes: copy }: Sizes): string {
  const source =
    sourceBytes === null ? 'The size of what was imported is not known' : `Imported from ${bytes(sourceBytes)}`;
  return `${source}; the copy kept here takes ${bytes(copy)}`;
}
