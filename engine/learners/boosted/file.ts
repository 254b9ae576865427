// What the model file of boosted trees holds besides its settings.

import type { ModelFile } from '../../protocol/model-file.ts';
import { treesFile, type ColumnFile, type TreeFile } from '../trees/model-schema.ts';
import type { BoostedSettings } from './declaration.ts';

export interface BoostedModelFile extends ModelFile {
  readonly learner: 'boosted';
  readonly boosted: BoostedSettings;
  readonly seed: number;
  readonly columns: readonly ColumnFile[];
  /** Round by round, one for each output. */
  readonly trees: readonly TreeFile[];
}

export const file = treesFile;
