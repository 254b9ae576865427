// What is said of a finished run's reasons: which columns matter, how its answer moves with one of them, what each did for one row. All
// of it on raw columns, as they stand in the file. N rows, C columns, G values of a column, R rows drawn.

import type { RawColumn } from '../model/spec.ts';
import type { TreeLook, TreeScale } from './trees.ts';
import type { PreparedData, Progress } from './data.ts';
import type { EvaluatedSplit } from './evaluated-rows.ts';

/** How much worse a score is when the values of a column are dealt out anew among the rows. */
export interface ColumnImportance {
  /** Place among the columns. */
  readonly column: number;
  /** Others that were dealt out with it, where those that say nearly the same were; absent: none. */
  readonly together?: readonly number[];
  /** One a shuffle, by score: above 0 = worse without the column. */
  readonly drops: Readonly<Record<string, readonly number[]>>;
}

/** Two columns that say nearly the same; `r`: Pearson's, Cramér's V, or the root of the share of variance explained; 0.8 … 1. */
export interface Correlated {
  readonly columns: readonly [number, number];
  readonly r: number;
}

export interface Importance {
  /** Rows it was measured on, of how many. */
  readonly rows: number;
  readonly of: number;
  /** Shuffles of every column that were done; fewer than asked for where it was cancelled. */
  readonly shuffles: number;
  /** Scores of the rows as they are. */
  readonly scores: Readonly<Record<string, number>>;
  readonly columns: readonly ColumnImportance[];
  readonly correlated: readonly Correlated[];
}

/** How the answer moves when one column takes one value after the other in every row (Friedman 2001; Goldstein et al. 2015). */
export interface Dependence {
  readonly column: number;
  /** [G] as `RawColumn` says: rising numbers, or the most frequent categories. */
  readonly values: Float64Array;
  /** [G] mean of the answer over the rows drawn. */
  readonly mean: Float64Array;
  /** [R,G] the answer of single rows. */
  readonly curves: Float64Array;
  /** [R] rows of the dataset behind them, from 0. */
  readonly sources: Uint32Array;
  /** Values of rows: where the file has any. */
  readonly ticks: Float64Array;
}

/** What each column did for the answer of one row: Shapley values, by sampling (Štrumbelj & Kononenko 2014) or of trees exactly (Lundberg et al. 2018). */
export interface Contributions {
  /** Of trees: what average, prediction and shares are counted in, and the answer itself. Absent: by sampling, of the answer. */
  readonly exact?: { readonly scale: TreeScale; readonly answer: number };
  /** Row of the dataset, from 0. */
  readonly source: number;
  /** [C] what stands in it. */
  readonly values: Float64Array;
  /** Class number or value; NaN where it is not known. */
  readonly truth: number;
  /** Mean answer of the rows it is compared with, and how many those are; of trees, 0: the rows they were grown on. */
  readonly average: number;
  readonly background: number;
  readonly prediction: number;
  /** [C] they add up to prediction − average; and the standard error of each, for the ways and for the rows it is compared with: exact ones have none. */
  readonly shares: Float64Array;
  readonly errors: Float64Array;
}

/** Of trees, [C]: what the splits on each column gained in all, and how many there are. */
export interface ColumnGains {
  readonly gain: Float64Array;
  readonly splits: Float64Array;
}

/** What the columns of trees did on average, whichever way they moved the answer. */
export interface MeanContributions {
  /** [C] mean size of the exact contributions, in the unit of `scale`. */
  readonly mean: Float64Array;
  readonly scale: TreeScale;
  /** Rows it was measured on. */
  readonly rows: number;
}

/** Contributions of all rows of a file. */
export interface TableContributions {
  readonly rows: number;
  readonly columns: readonly RawColumn[];
  /** Class that is explained; null: a number. */
  readonly wanted: number | null;
  /** Of trees what contributions are counted in; null: found by sampling, of the answer itself. */
  readonly scale: TreeScale | null;
  /** The expected value: each row's contributions add up to its prediction − this. */
  readonly average: number;
  /** [C] mean size of the contributions; and their mean standard error, 0 where they are exact. */
  readonly mean: Float64Array;
  readonly errors: Float64Array;
  /** By sampling: ways through the columns of each row, and the rows they begin at; exact: 0. */
  readonly draws: number;
  readonly background: number;
  readonly seconds: number;
}

export interface Explanation {
  readonly columns: readonly RawColumn[];
  /** Class whose probability is explained; null: a number. */
  readonly wanted: number | null;
  /** The names of the classes; null: a number. */
  readonly classes: readonly string[] | null;
  readonly importance: Importance;
  /** Of trees. Without `contributions` it was cancelled before. */
  readonly gains?: ColumnGains;
  readonly contributions?: MeanContributions;
  readonly dependence: readonly Dependence[];
  readonly seconds: number;
}

/** What an explanation is made from. `data` holds columns as they are. */
export interface ExplainRequest {
  /** Names the work for progress and cancel. */
  readonly job: string;
  readonly run: number;
  readonly model: string;
  readonly weights: Uint8Array;
  readonly preprocessing: unknown;
  readonly data: PreparedData;
  /** Out of fold: `data` says of each of its training rows which fold it validated in. */
  readonly split: EvaluatedSplit;
  /** Class whose probability is explained; absent: the second of two, else the first. */
  readonly wanted?: number;
}

export interface TableRequest extends Omit<ExplainRequest, 'data'> {
  readonly data: PreparedData | null;
  readonly file: PreparedData;
  /** Ways through the columns of each row, where they are sampled. */
  readonly draws?: number;
}

export interface ExplainerService {
  /** Stopped by `cancel` it tells what is known by then. */
  explain(request: ExplainRequest & { readonly shuffles?: number; readonly together?: boolean }): Promise<Explanation>;
  /** How the answer moves with some columns, by their places. */
  dependence(request: ExplainRequest & { readonly columns: readonly number[] }): Promise<readonly Dependence[]>;
  /** `row` of the dataset, from 0; absent: the surest wrong one, else the first. Throws InputError `input.no_row`; stopped, CancelledError of trees. */
  row(request: ExplainRequest & { readonly row?: number }): Promise<Contributions>;
  /**
   * Every row of a file (columns as they are), kept beside it (`DataService.keepNumbers`): the expected value, a column each, the
   * prediction. `data`: null for trees; others are compared with rows of its split. Stopped, it throws CancelledError.
   */
  table(request: TableRequest): Promise<TableContributions>;
  /** A tree of a run, from 1; what was read last is kept. Throws InputError `usage.tree`, `input.no_trees`. */
  tree(request: {
    readonly run: number;
    readonly model: string;
    readonly weights: Uint8Array;
    readonly tree: number;
    readonly wanted?: number;
  }): Promise<TreeLook>;
  cancel(request: { job: string }): Promise<void>;
  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void;
}
