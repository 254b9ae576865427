// What a run is asked to name: a file from outside, or a picture of its own dataset.

import type { ClassifiedPictures } from '../../../../engine/protocol/evaluation.ts';

/** What a drop or a dialog gave. */
interface ShownFile {
  readonly token: string;
  readonly name: string;
}

export type ShownPicture =
  | { readonly kind: 'files'; readonly items: readonly ShownFile[]; readonly name: string }
  | { readonly kind: 'row'; readonly row: number; readonly name: string };

export interface ClassShare {
  readonly name: string;
  readonly share: number;
}

/** Probabilities of one of the pictures, largest first. */
export function sharesOf({ classes, probabilities }: ClassifiedPictures, picture: number): readonly ClassShare[] {
  return classes
    .map((name, k) => ({ name, share: probabilities[picture * classes.length + k] }))
    .sort((a, b) => b.share - a.share);
}
