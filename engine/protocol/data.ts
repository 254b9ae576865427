// Datasets as they cross process borders: what a person sees of a table or an image folder, how it is read and split, and
// the rows a trainer asks for.

import type { InputSpec, OutputSpec, Task } from '../model/spec.ts';

export type ColumnType = 'number' | 'category' | 'datetime' | 'boolean' | 'text' | 'identifier';

/** How a file is to be read; everything is found out unless set. */
export interface ReadOptions {
  readonly delimiter?: string;
  readonly decimal?: '.' | ',';
  readonly encoding?: 'utf-8' | 'utf-16' | 'latin-1';
  readonly header?: boolean;
  /** Leave out lines that cannot be read instead of refusing the file. */
  readonly skipBadLines?: boolean;
}

export interface DataWarning {
  /** Stable code: `constant`, `identifier`, `leak`, `duplicates`, `shared_rows`, `rare_class`, `imbalance`, `renamed`, `infinite`, `skipped_lines`, … */
  readonly code: string;
  readonly message: string;
  readonly columns?: readonly string[];
  /** Row numbers (from 1) the warning speaks of, the first few. */
  readonly rows?: readonly number[];
}

export interface ColumnInfo {
  readonly name: string;
  readonly type: ColumnType;
  /** Why this type, in words: "412 whole numbers, 7 of them distinct". */
  readonly reason: string;
  /** The person chose the type. */
  readonly overridden: boolean;
  readonly missing: number;
  readonly distinct: number;
  /** number: in its unit; datetime: milliseconds since 1970. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly mean?: number;
  readonly deviation?: number;
  readonly median?: number;
  /** number, datetime: equal bins between minimum and maximum. */
  readonly histogram?: readonly number[];
  /** category, boolean, text: the most frequent values. */
  readonly top?: readonly { readonly value: string; readonly count: number }[];
}

/** What a person may change about an imported dataset; the import itself never changes. */
export interface DatasetSettings {
  readonly types?: Readonly<Record<string, ColumnType>>;
  readonly target?: string;
  readonly task?: Task;
  /** Columns not used as features. */
  readonly ignored?: readonly string[];
  /** Shares of train, validation, test; sum 1. */
  readonly split?: readonly [number, number, number];
}

export interface DatasetInfo {
  /** Content hash: the same file imported twice is the same dataset. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'table' | 'images';
  /** Where it came from: the file's or folder's name, no path. */
  readonly source: string;
  readonly rows: number;
  /** Bytes on disk of the imported copy. */
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly importedAt: number;
  readonly columns: readonly ColumnInfo[];
  readonly target: string | null;
  readonly targetReason: string;
  readonly task: Task | null;
  /** Classes of the target and their counts, most frequent first; empty for regression. */
  readonly classes: readonly { readonly name: string; readonly count: number }[];
  readonly warnings: readonly DataWarning[];
  /** How the file was read: delimiter, decimal mark, encoding, skipped lines, for people. */
  readonly reading: Readonly<Record<string, string>>;
  readonly settings: DatasetSettings;
}

export interface Progress {
  readonly stage: string;
  /** 0 … 1, or null while unknown. */
  readonly share: number | null;
  /** Seconds left, or null while unknown. */
  readonly secondsLeft: number | null;
}

export type CellValue = string | number | boolean | null;

export interface RowPage {
  readonly offset: number;
  readonly total: number;
  readonly rows: readonly (readonly CellValue[])[];
}

export type SplitName = 'train' | 'validation' | 'test';

export interface PrepareOptions {
  readonly settings: DatasetSettings;
  readonly seed: number;
}

/**
 * A dataset made ready for one run: preprocessing fitted on its training split, rows as float32. Rows are numbered
 * train first, then validation, then test. Shards are read by number and hold consecutive rows.
 */
export interface PreparedData {
  /** Handle within the data service that made it. */
  readonly handle: string;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly task: Task;
  readonly counts: Readonly<Record<SplitName, number>>;
  /** float32 values a row in x, and in y (class number or standardised value). */
  readonly width: number;
  readonly targets: number;
  /** First row of each shard, plus the total as the last entry. */
  readonly shardStarts: readonly number[];
  /** Rows of each class in the training split. */
  readonly classCounts: readonly number[];
  /** Fitted preprocessing: plain JSON, part of the run and of every export. */
  readonly preprocessing: unknown;
  readonly warnings: readonly DataWarning[];
}

export interface Shard {
  readonly rows: number;
  /** [rows, width] */
  readonly x: Float32Array;
  /** [rows, targets] */
  readonly y: Float32Array;
}

/** Parsing, profiling, preprocessing. Runs in its own process; speaks no SQL to the history. */
export interface DataService {
  /** Reads a file or folder into an immutable copy. `job` names the work for `onProgress` and `cancel`. */
  import(request: {
    job: string;
    path: string;
    options?: ReadOptions;
    settings?: DatasetSettings;
  }): Promise<DatasetInfo>;
  cancel(request: { job: string }): Promise<void>;
  /** Profile under other settings (types, target, task). */
  describe(request: { dataset: string; settings: DatasetSettings }): Promise<DatasetInfo>;
  list(): Promise<readonly DatasetInfo[]>;
  remove(request: { dataset: string }): Promise<void>;
  rows(request: { dataset: string; offset: number; limit: number }): Promise<RowPage>;
  prepare(request: { job: string; dataset: string; options: PrepareOptions }): Promise<PreparedData>;
  /** Applies a run's fitted preprocessing to another file; `y` is NaN where the file has no target. */
  transform(request: { job: string; path: string; preprocessing: unknown }): Promise<PreparedData>;
  readShard(request: { handle: string; shard: number }): Promise<Shard>;
  release(request: { handle: string }): Promise<void>;
  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void;
}
