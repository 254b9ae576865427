// What a forest is grown of, and where.

import type { Backend } from '../../backends/backend.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { ColumnBins } from './bins.ts';
import type { BinnedRows } from './rows.ts';

export interface ForestSettings {
  /** Rows of a leaf at least, each as often as it was drawn. */
  readonly minRows: number;
  /** 0 = as deep as it gets. */
  readonly depth: number;
  /** Columns that a node looks at: those that are the same in all its rows do not count. */
  readonly columns: number;
  /** One cut a column, drawn between its least and largest bin (Geurts et al. 2006), instead of the best. */
  readonly randomCuts: boolean;
  readonly trees: number;
  /** Each tree is grown on as many rows as there are, drawn with replacement; else on all of them. */
  readonly bootstrap: boolean;
  readonly seed: number;
}

export interface ForestSetup {
  readonly rows: BinnedRows;
  readonly columns: readonly ColumnBins[];
  readonly train: number;
  readonly validation: number;
  readonly output: OutputSpec;
  /** Weights of the classes, or null. */
  readonly classWeights: ArrayLike<number> | null;
  readonly settings: ForestSettings;
  /** Where trees grow; opened when first asked for. */
  readonly backend: () => Promise<Backend>;
}
