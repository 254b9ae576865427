// What reading a folder of pictures starts from and comes to, and what splits are called in folders and in files of labels.

import type { DataWarning, SkippedFile, SplitName } from '../../protocol/data.ts';
import { ownValue } from '../../protocol/own.ts';
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

/** Names that stand for splits. */
const splitWords: Readonly<Record<string, SplitName>> = {
  train: 'train',
  training: 'train',
  val: 'validation',
  valid: 'validation',
  validation: 'validation',
  dev: 'validation',
  test: 'test',
  testing: 'test',
};

/** What a folder of this name, or this word of a column, stands for; undefined: no split. */
export const splitNamed = (name: string): SplitName | undefined => ownValue(splitWords, name.trim().toLowerCase());
