// What the processes that compute offer: training one run, predictions with a finished one, a description of their device.

import type { RunConfig, MetricPoint, TrainingProgress, RunResult, LogLine, WrittenFile } from './runs.ts';
import type { Trial } from './search.ts';
import type { RunRelation, RunStart } from './family.ts';
import type { DeviceInfo } from './app.ts';
import type { PreparedData, SplitName } from './data.ts';
import type { FoldTable, PredictionTable, ScoredTable, SlicedColumns, EvaluatedSplit } from './evaluated-rows.ts';
import type { PredictionSummary } from './predicting.ts';
import type { ModelSource, PredictionSpeed } from './serving.ts';
import type { ClassifiedPictures } from './evaluation.ts';

export interface PredictorService {
  /**
   * Predicts all rows of prepared data with the files of a run (`model.json`, `best.safetensors`), window by window, and keeps the
   * predictions beside the rows (`DataService.keepPredictions`).
   */
  predict(request: { run: number; model: string; weights: Uint8Array; data: PreparedData }): Promise<PredictionSummary>;
  /** Rows that are done. */
  onPredicted(listener: (event: { handle: string; rows: number }) => void): () => void;
}

/** Measures how fast a device predicts with the model of a run. */
export interface SpeedService {
  speed(request: ModelSource): Promise<PredictionSpeed>;
}

export interface ClassifierService {
  /** Says what prepared pictures are, with the files of a run, and where it looked. */
  classify(request: {
    run: number;
    model: string;
    weights: Uint8Array;
    data: PreparedData;
  }): Promise<Omit<ClassifiedPictures, 'total' | 'notes'>>;
}

/** What a prediction table is made from. */
export interface TableRequest {
  readonly run: number;
  readonly model: string;
  readonly weights: Uint8Array;
  /** What the run keeps as `preprocessing.json`. */
  readonly preprocessing: unknown;
  /** `baseline.safetensors`; null where the run has none. */
  readonly baseline: Uint8Array | null;
  /** Rows of each class in the training split; empty for numbers. */
  readonly classCounts: readonly number[];
  /** Of a table: columns as they are. */
  readonly data: PreparedData;
  readonly split: EvaluatedSplit;
}

export interface EvaluatorService {
  /** Throws InputError `input.no_truth` where no row says what it is, `input.empty_split` where there is none. */
  table(request: TableRequest): Promise<PredictionTable>;
  /** The same with its scores and the columns of its rows. */
  scored(request: TableRequest): Promise<ScoredTable>;
  /** The folds of a cross-validation as one table, with its scores and columns. `whole`: all rows as columns as they are, in one split; null for pictures. */
  outOfFold(request: { parts: readonly FoldTable[]; whole: PreparedData | null }): Promise<ScoredTable>;
  /** The columns of the same rows; null for pictures. */
  columns(request: { readonly data: PreparedData; readonly split: SplitName }): Promise<SlicedColumns | null>;
}

export interface DeviceService {
  devices(): Promise<readonly DeviceInfo[]>;
}

/** What a run takes over from its parent. */
export interface JobStart extends RunStart {
  readonly parent: number;
  readonly relation: RunRelation;
  /** A checkpoint of its parent, or weights alone. */
  readonly file: Uint8Array;
}

/** What a host is told to train. */
export interface RunJob {
  readonly run: number;
  readonly config: RunConfig;
  readonly data: PreparedData;
  /** Checkpoint to continue from. */
  readonly checkpoint?: Uint8Array;
  /** What it begins with where there is no checkpoint yet, of a run that comes from another one. */
  readonly start?: JobStart;
  /** Of a search: the trials that the history has. */
  readonly trials?: readonly Trial[];
}

/** A model that was trained as a part of a run, and is a run of its own in the history. */
export interface KeptMember {
  /** Which, from 0: told twice it is the same one. */
  readonly member: number;
  readonly title: string;
  readonly config: RunConfig;
  readonly parameters: number;
  readonly result: RunResult;
  readonly files: Readonly<
    Record<'best.safetensors' | 'model.json' | 'preprocessing.json' | 'evaluation.json', Uint8Array>
  >;
}

/** A process that trains one run: CPU utility process, GPU window, the command line itself or one that it starts for the run. */
export interface TrainerHost {
  /** Resolves when the run has ended, with its result; rejects when it failed. */
  train(job: RunJob): Promise<RunResult>;
  /** Milliseconds a training step of this job takes here; nothing of it is kept. */
  measure(job: RunJob): Promise<{ readonly stepMilliseconds: number }>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
  /** The last `checkpoint.bin` it handed over is kept, or never will be: no other leaves before. */
  checkpointKept(): Promise<void>;
  onStarted(
    /** `step`: steps already done by the checkpoint that is continued. */
    listener: (event: {
      device: string;
      name: string;
      threads: number;
      parameters: number;
      bytes: number;
      step?: number;
    }) => void,
  ): () => void;
  /** At most 10 a second. */
  onReport(listener: (event: { points: readonly MetricPoint[]; progress: TrainingProgress }) => void): () => void;
  onLog(listener: (line: LogLine) => void): () => void;
  onPaused(listener: (event: { paused: boolean }) => void): () => void;
  onFile(listener: (event: WrittenFile) => void): () => void;
  onMember(listener: (event: KeptMember) => void): () => void;
  /** Trials of a search that have ended, some at a time. */
  onTrials(listener: (trials: readonly Trial[]) => void): () => void;
}

/** What the main process calls a channel that it hands to a process: to the rows, or to a device that works beside it. */
export type LinkKind = 'link' | 'partner';
