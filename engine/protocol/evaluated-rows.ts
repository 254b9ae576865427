// The prediction table: what a run says of some rows, beside what they are. It is made in a host that computes, crosses to whoever
// shows it as typed arrays, and every figure of an evaluation is a function of it (engine/evaluation). N rows, K classes.

import type { RawColumn } from '../model/spec.ts';
import type { DataWarning } from './data.ts';

interface KnownRows {
  /** Row of the dataset or of the file behind each, from 0. */
  readonly sources: Uint32Array;
}

export interface ClassRows extends KnownRows {
  readonly kind: 'classes';
  readonly classes: readonly string[];
  /** [N] class numbers */
  readonly truth: Int32Array;
  /** [N,K] */
  readonly probabilities: Float64Array;
}

export interface ValueRows extends KnownRows {
  readonly kind: 'values';
  /** The column that is predicted. */
  readonly target: string;
  /** [N] in the target's unit. */
  readonly truth: Float64Array;
  readonly predicted: Float64Array;
}

/** Rows whose truth is known. */
export type EvaluatedRows = ClassRows | ValueRows;

/** What the same rows are to those who know less. */
export interface BaselineRows {
  /** Shares of the classes in the training rows, or their mean in the target's unit. */
  readonly constant: readonly number[];
  /** A linear model: probabilities [N,K] or values [N]; null where the run has none, or is one itself. */
  readonly linear: Float64Array | null;
}

export interface PredictionTable {
  readonly rows: EvaluatedRows;
  readonly baselines: BaselineRows;
  /** Rows that say nothing of the target and are left out. */
  readonly untold: number;
}

/** How often the rows of the test split were looked at, and when last (milliseconds since 1970). */
export interface Openings {
  readonly count: number;
  readonly last: number | null;
}

export interface EvaluatedRun extends PredictionTable {
  /** Of the test split. */
  readonly opened: Openings;
  /** Of another file: its name. */
  readonly file: string | null;
  readonly warnings: readonly DataWarning[];
}

/** The columns of the evaluated rows as they are, in the order of the prediction table. */
export interface EvaluatedColumns {
  readonly columns: readonly RawColumn[];
  /** [columns][N] as `RawColumn` says. */
  readonly values: readonly Float64Array[];
}
