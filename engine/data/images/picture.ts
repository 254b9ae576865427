// What the parts of the image import say to each other: where pictures come from, what became of each, and why some did not
// come along.

import type { ImageFit, SplitName } from '../../protocol/data.ts';

/** Most pixels a picture may have, by its header: more is refused before anything is decoded. */
export const mostPixels = 2 ** 26;
/** Most bytes a picture file may have. */
export const mostBytes = 2 ** 28;
/** A picture that a source offers. */
export interface PictureEntry {
  /** Path within the source, with `/`; made up for pictures of arrays. */
  readonly file: string;
  /** Its class. */
  readonly label: string;
  /** The split it stands in, where the source has splits. */
  readonly split: SplitName | null;
}

/** What is known of a picture before it is decoded; a reason if it will not be. */
export type PictureFacts = { readonly width: number; readonly height: number } | { readonly reason: string };

/** The size pictures are brought to, and how. */
export interface PictureShape {
  readonly width: number;
  readonly height: number;
  readonly fit: ImageFit;
}

/** A picture at its working size, measured. */
export interface PictureMeasures {
  /** SHA-256 of its pixels, shortened. */
  readonly hash: string;
  /** 64-bit difference hash: two 32-bit words. */
  readonly look: readonly [number, number];
  /** Sum and sum of squares of its values, a channel (red, green, blue; grey pictures have one). */
  readonly sums: readonly number[];
  readonly squares: readonly number[];
}

/** Consecutive entries of a source, decoded. */
export interface DecodedBatch {
  /** What became of each entry, in order. */
  readonly outcomes: readonly (PictureMeasures | { readonly reason: string })[];
  /** 1 if all of them are grey, else 3. */
  readonly channels: 1 | 3;
  /** Those that were read: [pictures, channels, height, width]. */
  readonly pixels: Uint8Array;
}

export type ClassOrder = 'name' | 'number';

/** Classes in their order: by characters, or by value where all are numbers and the source counts. */
export function sortClasses(names: Iterable<string>, order: ClassOrder): string[] {
  const classes = [...new Set(names)];
  const numbers = order === 'number' && classes.every((name) => name !== '' && Number.isFinite(Number(name)));
  return classes.sort((first, second) => (numbers ? Number(first) - Number(second) : compareText(first, second)));
}

/** Order by characters, the same in every language. */
export function compareText(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A picture that cannot be read: `message` is the reason, for people. */
export class UnreadablePicture extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnreadablePicture';
  }
}
