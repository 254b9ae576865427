// What a column is to a model: what it predicts, or what it predicts from.

import type { ColumnInfo } from '../../protocol/data.ts';
import type { Task } from '../../model/spec.ts';
import type { StoredColumn } from './stored.ts';

/** What the warnings about a target need to know. */
export interface TargetFacts {
  readonly column: StoredColumn;
  readonly info: ColumnInfo;
  readonly task: Task;
  readonly classes: readonly { readonly name: string; readonly count: number }[];
}

/** A column that may be used to predict the target. */
export interface Feature {
  readonly column: StoredColumn;
  readonly info: ColumnInfo;
}
