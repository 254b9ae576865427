// Where pictures are imported from: a folder, files, arrays.

import type { DataWarning, SkippedFile } from '../../protocol/data.ts';
import type { Job } from '../jobs.ts';
import type { ClassOrder, DecodedBatch, PictureEntry, PictureFacts, PictureShape } from './picture.ts';
import type { PicturePool } from './pool.ts';

/** Anything pictures can be imported from. */
export interface PictureSource {
  readonly entries: readonly PictureEntry[];
  /** Files that are no pictures or have no class. */
  readonly skipped: readonly SkippedFile[];
  readonly warnings: readonly DataWarning[];
  /** How it was read, for people. */
  readonly reading: Readonly<Record<string, string>>;
  /** Where the classes come from, in words. */
  readonly labelledBy: string;
  /** How classes are put in order. */
  readonly classOrder: ClassOrder;
  /** Looks at every entry, and hashes all content. */
  examine(pool: PicturePool, job: Job): Promise<ExaminedSource>;
  /** Decodes all entries in their order. */
  decode(pool: PicturePool, shape: PictureShape, job: Job): AsyncIterable<DecodedBatch>;
}

export interface ExaminedSource {
  readonly facts: readonly PictureFacts[];
  readonly digest: string;
  /** Bytes of the files of all pictures. */
  readonly bytes: number;
}
