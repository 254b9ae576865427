// Datasets as they cross process borders: what a person sees of a table or an image folder, how it is read and split, and
// the rows a trainer asks for.

import type { InputSpec, OutputSpec, Task } from '../model/spec.ts';
import type { ColumnType, splitKinds, TextSettings } from '../settings/dataset.ts';
import type { ImageFit, ReadOptions } from '../settings/reading.ts';

export type { ColumnType } from '../settings/dataset.ts';
export type { ImageFit, ImageReadOptions, ReadOptions } from '../settings/reading.ts';

export interface DataWarning {
  /** Stable code: `constant`, `identifier`, `no_validation`, `leak`, `duplicates`, `shared_rows`, `rare_class`, `imbalance`, `renamed`, `infinite`, `skipped_lines`, `settings`, … */
  readonly code: string;
  readonly message: string;
  /** Nothing can be trained before this is dealt with. */
  readonly blocks?: boolean;
  readonly columns?: readonly string[];
  /** Row numbers (from 1) the warning speaks of, the first few. */
  readonly rows?: readonly number[];
  /** `skipped_images`: the files left out and why, the first few. All of them: `DataService.skipped`. */
  readonly skipped?: readonly SkippedFile[];
}

/** A file that was left out of an import. */
export interface SkippedFile {
  /** Path within the imported folder, with `/`. */
  readonly file: string;
  readonly reason: string;
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
  /** text: how long they are; imports of earlier versions do not say. */
  readonly lengths?: TextLengths;
}

/** Of the texts that are there. */
export interface TextLengths {
  readonly words: { readonly minimum: number; readonly median: number; readonly maximum: number };
  readonly characters: { readonly median: number; readonly maximum: number };
  /** Texts by their words: equal bins between the fewest and the most. */
  readonly histogram: readonly number[];
}

/** What a split goes by, other than chance. */
export interface SplitBy {
  /** `time`: the earliest rows train, the latest test. `group`: all rows of a group are in one split. */
  readonly kind: (typeof splitKinds)[number];
  readonly column: string;
}

/** Part of a cross-validation. */
export interface Fold {
  /** Which, from 1. */
  readonly number: number;
  /** How many there are. */
  readonly of: number;
  /** How whole groups were dealt out; absent: by their rows alone, as earlier versions did, and where nothing goes by groups. */
  readonly dealt?: 'by class';
}

/** Which columns of text a model reads, and how. */
export interface TextChoice extends TextSettings {
  /** Default: all of them where the table has no other column to learn from, else none. */
  readonly columns?: readonly string[];
  /** Name of tokenizers that were kept (`DataService.readingOf`): tokens are cut by these, none is trained. */
  readonly kept?: string;
}

/** A channel each: a pixel x of 0 … 1 is read as (x − mean) / deviation. */
export interface Normalization {
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
}

/** How a run reads rows: what one that begins with its weights has to read as it does. Null: each as it finds best. */
export interface RowReading {
  /** Name of its tokenizers (`TextChoice.kept`). */
  readonly texts: string | null;
  /** Of pixels. */
  readonly normalization: Normalization | null;
}

/**
 * What a model makes of texts: `words` to be counted, `tokens` to be read in their order; `as they are`: whoever reads the rows makes tokens of
 * them (`columns` alone).
 */
export type TextWay = 'words' | 'tokens' | 'as they are';

/** What a person may change about an imported dataset; the import itself never changes. */
export interface DatasetSettings {
  readonly types?: Readonly<Record<string, ColumnType>>;
  readonly target?: string;
  readonly task?: Task;
  /** Columns not used as features. */
  readonly ignored?: readonly string[];
  /** Shares of train, validation, test; sum 1. A split that an image folder brings stands above it. */
  readonly split?: readonly [number, number, number];
  /** Tables only. Default: rows are drawn by chance. */
  readonly splitBy?: SplitBy;
  /** Of a run whose training rows are cut into parts that validate in turn: the validation split trains too. The test split stays as it is. */
  readonly joined?: true;
  /** Of a run that is a fold of a cross-validation: this part of all rows is its test split. Splits that a source brings do not count. */
  readonly fold?: Fold;
  /** Tables only. */
  readonly texts?: TextChoice;
  /** Pictures only. Default: of the training split. A run that begins with another one keeps that one's: its weights know no other. */
  readonly normalization?: Normalization;
  /** Pictures only: corrected classes by file name. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface DatasetInfo {
  /** Content hash: the same file imported twice is the same dataset. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'table' | 'images';
  /** Where it came from: the file's or folder's name, no path. */
  readonly source: string;
  readonly rows: number;
  /** Bytes of the file, or of the pictures, it was imported from; null where an earlier version imported it without a note. */
  readonly sourceBytes: number | null;
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
  /** Pictures only. */
  readonly image?: ImageInfo;
}

/** What is known of the pictures of a dataset. */
export interface ImageInfo {
  /** Working size: what all pictures were brought to. */
  readonly width: number;
  readonly height: number;
  /** 1 if every picture is grey, else 3. */
  readonly channels: 1 | 3;
  readonly fit: ImageFit;
  /** Pictures of each split that the folder itself brings; null = it brings none. */
  readonly splits: Readonly<Record<SplitName, number>> | null;
  /** Smallest and largest size before. */
  readonly smallest: readonly [width: number, height: number];
  readonly largest: readonly [width: number, height: number];
  readonly skipped: number;
}

/** A page of pictures for a gallery. */
export interface PicturePage {
  readonly offset: number;
  /** Pictures there are, of the class asked for. */
  readonly total: number;
  readonly pictures: readonly PictureInfo[];
  /** Size of the thumbnails. */
  readonly width: number;
  readonly height: number;
  /** RGBA [pictures, height, width, 4] */
  readonly pixels: Uint8Array;
}

export interface PictureInfo {
  /** Position in the dataset. */
  readonly row: number;
  readonly file: string;
  /** Under the settings given. */
  readonly class: string;
  readonly split: SplitName | null;
  /** Size of the original. */
  readonly width: number;
  readonly height: number;
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

/** A column that a run does not use. */
export interface LeftOutColumn {
  readonly column: string;
  /** `ignored` (a person chose so), `identifier`, `text`, `constant`, … */
  readonly reason: string;
}

/**
 * What prepared rows hold: `matrix` scaled numbers, categories as 0 and 1 or as codes (float32); `columns` each column as it is
 * (float64, `RawColumn`); `pixels` the bytes of pictures.
 */
export type RowForm = 'matrix' | 'columns' | 'pixels';

export interface PrepareOptions {
  readonly settings: DatasetSettings;
  readonly seed: number;
  /** Forms of rows that are of use, the best first; default `matrix` and `pixels`. A dataset that has none of them is refused (`input.form`). */
  readonly forms?: readonly RowForm[];
  /** What becomes of texts. Absent: they are left out, and `learner`, as a sentence has it, is why. */
  readonly texts?: TextWay;
  readonly learner?: string;
  /** Splits of a table whose rows are wanted; the others have none. Default: all. */
  readonly splits?: readonly SplitName[];
  /** Of a table: cut the training rows into so many parts that validate in turn; 0 = as many as pay. Absent: none. */
  readonly parts?: number;
}

/** What a run made of a column of another file. */
export interface ColumnUse {
  readonly name: string;
  /** Share of the rows whose cell is empty or says "missing". */
  readonly missing: number;
  /** Share of the rows whose cell holds something the run cannot use: no number, no date, no category it knows. */
  readonly unknown: number;
  /** Both together in the rows the run was trained on; null = it does not say. */
  readonly trainingMissing: number | null;
}

/** How the columns of another file stand for those of a run, as a person says. */
export interface FileMatching {
  /** The file's column for one of the run's; null = go without it: it counts as missing. Others are found by name. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** By the run's column: a value of the file, and the category it stands for. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A column that a run needs, and what another file has for it. */
export interface ColumnMatch {
  readonly name: string;
  readonly kind: 'number' | 'boolean' | 'datetime' | 'category' | 'text';
  /** The file's column; null: it has none, or the person goes without. */
  readonly found: string | null;
  /** `refused`: predictions would be guesses; `warned`: something was read otherwise or lost; `without`: as the person says. */
  readonly status: 'refused' | 'warned' | 'without' | 'fine';
  /** How it was read, in a few words: "number", "3 values". */
  readonly read: string;
  /** What is wrong, or was read otherwise; null = nothing. */
  readonly message: string | null;
  /** Rows whose cell is empty, and whose cell cannot be used. */
  readonly missing: number;
  readonly unknown: number;
  /** What cannot be used, the most frequent first, the first few. */
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** The categories that training knows. */
  readonly categories?: readonly string[];
}

/** A file's columns beside those a run needs. */
export interface FileMatch {
  /** In the order of the run's features. */
  readonly columns: readonly ColumnMatch[];
  /** Columns of the file that are not used, in its order. */
  readonly extra: readonly string[];
  /** All columns of the file. */
  readonly names: readonly string[];
}

/** A page of a file's own rows with what was predicted for them. */
export interface PredictedRows {
  readonly offset: number;
  /** Rows predicted so far. */
  readonly total: number;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CellValue[])[];
  /** [rows][columns of the model] as the model reads them: times in milliseconds; null = missing, or it cannot be used. None of pictures. */
  readonly read: readonly (readonly CellValue[])[];
  /** [rows] class numbers, or values. */
  readonly values: Float64Array;
  /** [rows, classes]; empty for values. */
  readonly probabilities: Float64Array;
  /** What could not be used of each row; empty = nothing. */
  readonly reasons: readonly string[];
}

/** How predictions are written to a file. */
export interface PredictionFormat {
  readonly format: 'csv' | 'parquet';
  /** The file's own columns stand before the predictions. */
  readonly original: boolean;
  readonly probabilities: boolean;
  readonly reasons: boolean;
  /** CSV: see `--escape-formulas`. */
  readonly escapeFormulas?: boolean;
}

/**
 * A dataset made ready for one run: preprocessing fitted on its training split. Rows are numbered
 * train first, then validation, then test. Shards are read by number and hold consecutive rows.
 */
export interface PreparedData {
  /** Handle within the data service that made it. */
  readonly handle: string;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly task: Task;
  readonly counts: Readonly<Record<SplitName, number>>;
  /** Values a row in x, and in y (class number or standardised value). */
  readonly width: number;
  readonly targets: number;
  /** First row of each shard, plus the total as the last entry. */
  readonly shardStarts: readonly number[];
  /** Images: mean and standard deviation of each channel over the training split, pixels in 0 … 1. Default: 0 and 1. */
  readonly normalization?: Normalization;
  /** Rows of each class in the training split; of a language model none. */
  readonly classCounts: readonly number[];
  /** Of a language model: bytes of UTF-8 that a token stands for, of the texts of each split. */
  readonly bytesPerToken?: Readonly<Record<SplitName, number>>;
  /** Fitted preprocessing: plain JSON, part of the run and of every export. */
  readonly preprocessing: unknown;
  readonly warnings: readonly DataWarning[];
  /** Splits that the source brings itself; the others are drawn by their shares. Default: none. */
  readonly givenSplits?: readonly SplitName[];
  /** Columns not used. Default: none. */
  readonly leftOut?: readonly LeftOutColumn[];
  /** A table given to `transform`: what became of each column that is used. */
  readonly columns?: readonly ColumnUse[];
  /** The same beside the file's own columns. */
  readonly match?: FileMatch;
  /** A table given to `transform`: rows of a class that the recipe does not know; their y is NaN. Default: 0. */
  readonly foreignTruth?: number;
  /** Of a dataset: its row behind each prepared row. */
  readonly sources?: Uint32Array;
  /** Where `parts` were asked for: the part of each training row, from 1; 0 = it only ever trains. */
  readonly parts?: Uint8Array;
  /** Pictures given to `transform`: the file of each row. */
  readonly files?: readonly string[];
}

export interface Shard {
  readonly rows: number;
  /** [rows, width]; bytes for images, channel by channel (NCHW); float64 for columns as they are. */
  readonly x: Float32Array | Float64Array | Uint8Array;
  /** [rows, targets] */
  readonly y: Float32Array;
}

/** A column of a table as it stands in its file: numbers and times (milliseconds since 1970), NaN = missing; texts, empty = missing. */
export interface RawColumnValues {
  readonly name: string;
  readonly values: Float64Array | readonly string[];
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
  /** `only`: of these rows alone (numbers from 0), in their order; tables. */
  rows(request: { dataset: string; offset: number; limit: number; only?: readonly number[] }): Promise<RowPage>;
  /** Pictures as thumbnails no wider or higher than `size` (default 96, the working size at most), of one class or of given rows. */
  pictures(request: {
    dataset: string;
    settings?: DatasetSettings;
    offset?: number;
    limit?: number;
    class?: string;
    rows?: readonly number[];
    size?: number;
  }): Promise<PicturePage>;
  /** Every file the import of an image folder left out. */
  skipped(request: { dataset: string }): Promise<readonly SkippedFile[]>;
  prepare(request: { job: string; dataset: string; options: PrepareOptions }): Promise<PreparedData>;
  /**
   * How a run's preprocessing reads rows, for runs that begin with it. Where its model reads tokens its tokenizers are kept for them. `places`:
   * tokens of a text that the model can read, 0 = any number; absent: as many as it did read, no fewer and no more.
   */
  readingOf(request: { preprocessing: unknown; tokens: { places?: number } | null }): Promise<RowReading>;
  /**
   * Applies a run's fitted preprocessing to another file; `y` is NaN where the file has no target. A file with a column of
   * which (nearly) nothing can be used is refused (`input.unusable_column`) unless it is asked for with `force`.
   */
  transform(request: {
    job: string;
    path: string;
    force?: boolean;
    /** Further files, for a run on pictures. */
    more?: readonly string[];
    preprocessing: unknown;
    /** Columns are found by their names without case and marks, and as it says. Absent: by their very names. */
    match?: FileMatching;
    /** Refuse nothing: what would be refused counts as missing, and `match` of the answer says so. */
    report?: boolean;
    /** Keep the file's own rows for `keepPredictions` until the handle is released. Tables only. */
    keep?: boolean;
  }): Promise<PreparedData>;
  /** Predictions of the rows that follow those kept so far: values [rows], probabilities [rows, classes]. */
  keepPredictions(request: { handle: string; values: Float64Array; probabilities: Float64Array | null }): Promise<void>;
  /** Numbers of the rows that follow, one array a name, which `writePredictions` then writes in place of predictions. */
  keepNumbers(request: { handle: string; names: readonly string[]; columns: readonly Float64Array[] }): Promise<void>;
  /** Rows of a kept file, with their predictions as far as there are any. */
  predictedRows(request: { handle: string; offset: number; limit: number }): Promise<PredictedRows>;
  /** Writes a kept file with its predictions; the path is that of a new file, which goes with the handle. */
  writePredictions(
    request: { job: string; handle: string } & PredictionFormat,
  ): Promise<{ path: string; bytes: number }>;
  /** Rows of an image dataset as a run with this preprocessing sees them, all counted as test; their classes are unknown. */
  prepareRows(request: { dataset: string; rows: readonly number[]; preprocessing: unknown }): Promise<PreparedData>;
  readShard(request: { handle: string; shard: number }): Promise<Shard>;
  release(request: { handle: string }): Promise<void>;
  /** Rows of a table (numbers from 0) as a run with this preprocessing finds them before it scales anything. */
  rawRows(request: {
    dataset: string;
    rows: readonly number[];
    preprocessing: unknown;
  }): Promise<readonly RawColumnValues[]>;
  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void;
}
