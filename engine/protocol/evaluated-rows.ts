// The prediction table: what a run says of some rows, beside what they are. It is made in a host that computes, crosses to whoever
// shows it as typed arrays, and every figure of an evaluation is a function of it (engine/evaluation). N rows, K classes.

import type { RawColumn } from '../model/spec.ts';
import type { DataWarning, SplitName } from './data.ts';

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

/** What is evaluated of a run's own rows: a split, or of a cross-validation all folds, each row by the model that did not learn from it. */
export type EvaluatedSplit = SplitName | 'out of fold';

export interface PredictionTable {
  readonly rows: EvaluatedRows;
  readonly baselines: BaselineRows;
  /** Rows that say nothing of the target and are left out. */
  readonly untold: number;
  /** Rows of a class that the run does not know: it is wrong about them whatever it says, and they are left out. Default: 0. */
  readonly foreign?: number;
  /** Of a cross-validation. */
  readonly folds?: FoldScores;
}

/** The test split of one fold. */
export interface FoldTable {
  /** Which, from 1. */
  readonly fold: number;
  readonly table: PredictionTable;
}

export type ScoreName =
  | 'roc_auc'
  | 'pr_auc'
  | 'log_loss'
  | 'brier'
  | 'ece'
  | 'balanced_accuracy'
  | 'accuracy'
  | 'f1'
  | 'rmse'
  | 'mae'
  | 'mape'
  | 'within'
  | 'r2'
  | 'bias';

/** Scores without intervals; NaN where one does not exist. */
export type PlainScores = Readonly<Partial<Record<ScoreName, number>>>;

/** What the rows of each fold score, and how far that spreads. */
export interface FoldScores {
  /** [N] the fold of each row. */
  readonly numbers: Uint8Array;
  readonly folds: readonly { readonly fold: number; readonly rows: number; readonly scores: PlainScores }[];
  /** Over the folds; the deviation as `FoldsResult` says. */
  readonly spread: Readonly<Partial<Record<ScoreName, { readonly mean: number; readonly deviation: number }>>>;
}

/** How much of a cross-validation its table has: a fold that does not stand is missing from it with its rows. */
export interface FoldsShare {
  readonly folds: number;
  readonly ofFolds: number;
  readonly ofRows: number;
}

/** A score beside what it has to beat; an interval of NaN where there is none. */
export interface Score {
  readonly name: ScoreName;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Of a linear model, and of the answer that is always the same; null where that is not known or does not exist. */
  readonly linear: number | null;
  readonly constant: number | null;
}

/** With every score and the columns: resampling and sorting take a processor for long enough to be felt, so it is done where the table is made. */
export interface ScoredTable extends PredictionTable {
  readonly scores: readonly Score[];
  /** Null for pictures. */
  readonly columns: SlicedColumns | null;
}

/** How often the rows of the test split were looked at, and when last (milliseconds since 1970). */
export interface Openings {
  readonly count: number;
  readonly last: number | null;
}

export interface EvaluatedRun extends ScoredTable {
  /** Of the test split. */
  readonly opened: Openings;
  /** Of another file: its name. */
  readonly file: string | null;
  /** Of a cross-validation. */
  readonly share?: FoldsShare;
  readonly warnings: readonly DataWarning[];
}

/** The columns of the evaluated rows as they are, in the order of the prediction table. */
export interface EvaluatedColumns {
  readonly columns: readonly RawColumn[];
  /** [columns][N] as `RawColumn` says. */
  readonly values: readonly Float64Array[];
}

export interface CutColumn {
  readonly name: string;
  /** [N] number of the group of each row; `labels.length` = none of them. */
  readonly codes: Uint8Array;
  readonly labels: readonly string[];
}

/** Columns cut into groups of rows, those of one group left out. */
export interface CutColumns {
  readonly rows: number;
  readonly columns: readonly CutColumn[];
}

/** The columns as they are and, for slices, cut. */
export interface SlicedColumns extends EvaluatedColumns {
  readonly cut: CutColumns;
}
