// A run as the makers of exports find it.

import type { ExportSource } from '../protocol/exports.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { Weights } from '../train/weights.ts';

/** What a run keeps, read. */
export interface OpenedRun extends ExportSource {
  readonly file: ModelFile;
  readonly tensors: Weights;
  readonly recipe: unknown;
}
