// What reading a folder of pictures starts from and comes to.

import type { DataWarning, SkippedFile } from '../../protocol/data.ts';
import type { DatabaseLimits } from '../database.ts';
import type { ClassOrder, PictureEntry } from './picture.ts';

/** The pictures of a folder and where their classes come from. */
export interface FolderLayout {
  readonly entries: readonly PictureEntry[];
  readonly skipped: readonly SkippedFile[];
  readonly warnings: readonly DataWarning[];
  readonly reading: Readonly<Record<string, string>>;
  readonly labelledBy: string;
  readonly classOrder: ClassOrder;
}

export interface LayoutRequest {
  /** Absolute path. */
  readonly folder: string;
  /** Its name, for messages. */
  readonly name: string;
  /** All files below it, relative to it. */
  readonly files: readonly string[];
  readonly limits: DatabaseLimits;
  /** For what reading a CSV may spill. */
  readonly workFolder: string;
}
