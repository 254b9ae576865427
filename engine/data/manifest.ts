// The manifest of an imported dataset.

import { z } from 'zod';
import type { DatasetInfo, DataWarning } from '../protocol/data.ts';
import type { AnalysedColumn } from './schema/analyse.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const fileFacts = z.record(z.string(), z.strictObject({ bytes: z.int().min(0), sha256 }));

/** Bytes and checksum of each file of a dataset, but of the manifest. */
export type FileFacts = Readonly<z.infer<typeof fileFacts>>;

/** Version of what an import writes; a later one makes a new dataset of the same file. */
export const manifestVersion = 1;

/** Everything known about a dataset besides its rows. Never changes after the import. */
export interface Manifest {
  readonly version: typeof manifestVersion;
  /** Bytes of the file it came from; negative for pictures, whose files are hashed each time. */
  readonly sourceBytes: number;
  /** As described under no settings at all. */
  readonly info: DatasetInfo;
  readonly columns: readonly AnalysedColumn[];
  /** Found while importing; independent of target and types. */
  readonly importWarnings: readonly DataWarning[];
  /** The files beside it; written by `publish`, absent in manifests of earlier versions. */
  readonly files?: FileFacts;
}
