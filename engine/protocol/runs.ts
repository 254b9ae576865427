// Runs as they cross process borders: what is asked of a trainer, what it reports, what the history keeps.

import type { CommonSettings } from '../settings/run.ts';
import type { WireError } from './errors.ts';
import type { LabRecord, LabResult, LabSummary } from './lab.ts';
import type { DatasetSettings, LeftOutColumn, PreparedData, SplitName } from './data.ts';

export type RunState =
  'queued' | 'running' | 'paused' | 'completed' | 'stopped' | 'diverged' | 'failed' | 'interrupted';
export const finalStates: ReadonlySet<RunState> = new Set([
  'completed',
  'stopped',
  'diverged',
  'failed',
  'interrupted',
]);

/**
 * Everything that decides a run, besides the dataset's content: what every run has, whatever learns. The learner's own settings
 * stand beside these, as its declaration says (`engine/learners/NAME/declaration.ts`).
 */
export interface RunConfig extends CommonSettings {
  readonly dataset: string;
  readonly settings: DatasetSettings;
  readonly learner: string;
}

/** One value of one series. Series are flat names: `train_loss`, `val_loss`, `val_accuracy`, `learning_rate`, … */
export interface MetricPoint {
  readonly series: string;
  readonly step: number;
  /** Fractional epoch: 1.0 = end of the first. */
  readonly epoch: number;
  /** Seconds of training time. */
  readonly seconds: number;
  readonly value: number;
}

export type Metrics = Readonly<Record<string, number>>;

/** What a host spends its time on, and the attempt around it. */
export const phases = [
  'preparing',
  'starting',
  'training',
  'validation',
  'scoring',
  'checkpoints',
  'baseline',
] as const;
export type Phase = (typeof phases)[number];
/** Seconds of each phase. */
export type PhaseSeconds = Readonly<Partial<Record<Phase, number>>>;

/** What a host has spent on a run, this attempt. */
export interface HostSpending {
  readonly phases: PhaseSeconds;
  /** Seconds of processor time of its process, all threads together; absent where it cannot tell. */
  readonly cpuSeconds?: number;
  /** Bytes its process has held in memory at most; absent where it cannot tell. */
  readonly peakBytes?: number;
}

/** What a run has cost, all attempts together, lost work included. Facts alone: energy and money are read from them. */
export interface RunBill extends HostSpending {
  readonly cpuSeconds: number;
  /** Seconds at work on a GPU. */
  readonly gpuSeconds: number;
  /** Energy by the processor's own meter while it was at work, what others did meanwhile included; absent: no meter, or not one that may be read. */
  readonly joules?: number;
  /** Bytes allocated on the device for model and rows. */
  readonly deviceBytes?: number;
  /** As its driver names it. */
  readonly deviceName?: string;
}

/** A run and its bill. */
export interface BilledRun {
  readonly run: number;
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly secondsElapsed: number;
  /** Null: it is of an earlier version. */
  readonly bill: RunBill | null;
}

/** How far training is, as its host knows it. */
export interface TrainingProgress {
  readonly epoch: number;
  readonly epochs: number;
  readonly step: number;
  readonly steps: number;
  /** Rows trained on a second of training: validation and all else left out. */
  readonly examplesPerSecond: number;
  /** Seconds of training steps alone. */
  readonly secondsTraining: number;
  /** Until the last epoch ends, validation included. */
  readonly secondsLeft: number | null;
  readonly loss: number | null;
  readonly spent?: HostSpending;
}

export interface RunProgress extends Omit<TrainingProgress, 'spent'> {
  /**
   * Seconds the run was at work: preparing, training, validating, final scores. Waiting its turn, pauses and the time between
   * its end and a resume are left out.
   */
  readonly secondsElapsed: number;
  /** Absent: the run is of an earlier version. */
  readonly bill?: RunBill;
}

/** What a run learns from, known once its data is prepared. */
export interface RunData {
  /** Rows of each split. */
  readonly counts: Readonly<Record<SplitName, number>>;
  /** Splits that the source brought itself; the others were drawn by their shares. */
  readonly givenSplits: readonly SplitName[];
  /** Columns not used. */
  readonly leftOut: readonly LeftOutColumn[];
}

/** What any model has to beat, scored on the same rows: `val_accuracy`, `test_r2`, … */
export interface Baseline {
  /** Always the same answer: the class most training rows have, or their mean in the target's unit. */
  readonly constant: { readonly answer: string | number; readonly metrics: Metrics };
  /** Null: there was no time for it, or the run is a linear model itself. */
  readonly linear: { readonly penalty: number; readonly metrics: Metrics } | null;
}

export interface RunResult {
  readonly reason: 'completed' | 'early_stopped' | 'stopped' | 'diverged';
  readonly device: string;
  readonly threads: number;
  readonly epochs: number;
  readonly steps: number;
  /** Seconds of training steps alone; `RunProgress.secondsElapsed` is the time all of it took. */
  readonly seconds: number;
  /** Rows trained on a second of training. */
  readonly examplesPerSecond: number;
  /** Of the weights kept (best by validation loss): `train_loss`, `val_loss`, `val_accuracy`, `test_accuracy`, … */
  readonly metrics: Metrics;
  readonly bestEpoch: number;
  /** What the learner has to say of how it came to this: "penalty 10, the best of 6 by the validation rows". */
  readonly remark?: string;
  /** Absent: the run is of an earlier version, or reading its rows once more would have taken too long. */
  readonly baseline?: Baseline;
  /** Until the host has ended; the history keeps it in the bill. */
  readonly spent?: HostSpending;
  /** Why the result cannot be believed, and what to do; absent = no reason for doubt. */
  readonly doubt?: string;
  /** Of a run that diverged: the step at which its loss was no number any more, what is kept, and what to try. */
  readonly divergence?: { readonly step: number; readonly message: string; readonly hint: string };
}

/** A row of the history. Times are milliseconds since 1970. */
export interface RunRecord {
  readonly id: number;
  readonly name: string;
  readonly state: RunState;
  readonly dataset: string;
  readonly datasetName: string;
  readonly config: RunConfig;
  readonly device: string;
  readonly threads: number;
  readonly parameters: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly progress: RunProgress | null;
  readonly data: RunData | null;
  /** Last and best value of every series; best = lowest for losses and errors, else highest. */
  readonly last: Metrics;
  readonly best: Readonly<Record<string, { readonly value: number; readonly epoch: number }>>;
  readonly result: RunResult | null;
  readonly error: WireError | null;
  readonly tags: readonly string[];
  readonly notes: string;
  readonly starred: boolean;
  /** In the trash since; null = not. */
  readonly deletedAt: number | null;
  readonly hasCheckpoint: boolean;
  /** What another process asked of the run, until its host has seen it. */
  readonly request: RunRequest | null;
}

export type RunRequest = 'pause' | 'resume' | 'stop';

/** What a list may be asked for of each run: everything there is to know of one. */
export const recordFields = [
  'id',
  'name',
  'state',
  'dataset',
  'datasetName',
  'config',
  'device',
  'threads',
  'parameters',
  'createdAt',
  'startedAt',
  'endedAt',
  'progress',
  'data',
  'last',
  'best',
  'result',
  'error',
  'tags',
  'notes',
  'starred',
  'deletedAt',
  'hasCheckpoint',
  'request',
] as const satisfies readonly (keyof RunRecord)[];
export type RecordField = (typeof recordFields)[number];

export interface NewRun {
  readonly name: string;
  readonly dataset: string;
  readonly datasetName: string;
  readonly config: RunConfig;
  /** Process that answers for the run, from `processOwner()`: others find out from it whether the run still lives. */
  readonly owner: { readonly pid: number; readonly startedAt: number };
}

export interface RunPatch {
  readonly name?: string;
  readonly state?: RunState;
  readonly config?: RunConfig;
  readonly device?: string;
  readonly threads?: number;
  readonly parameters?: number;
  readonly startedAt?: number;
  readonly endedAt?: number | null;
  readonly progress?: RunProgress | null;
  readonly data?: RunData;
  readonly result?: RunResult | null;
  readonly error?: WireError | null;
  readonly tags?: readonly string[];
  readonly notes?: string;
  readonly starred?: boolean;
  readonly request?: RunRequest | null;
  readonly owner?: { readonly pid: number; readonly startedAt: number };
}

export interface RunQuery<Field extends RecordField = RecordField> {
  readonly search?: string;
  readonly states?: readonly RunState[];
  readonly dataset?: string;
  readonly tags?: readonly string[];
  readonly starred?: boolean;
  readonly deleted?: boolean;
  /**
   * `name`, `state`, `dataset`, `device`, `threads`, `parameters`, `createdAt`, `startedAt`, `endedAt`, `duration`, `starred`,
   * `best.SERIES` or `last.SERIES`; newest first by default. Runs without the value stand last.
   */
  readonly sort?: { readonly by: string; readonly descending: boolean };
  readonly offset?: number;
  readonly limit?: number;
  /** What is told of each run; default: everything. */
  readonly fields?: readonly Field[];
  /** The series that `last` and `best` tell of; default: all. */
  readonly series?: readonly string[];
}

/** How many runs a query finds, and those between its offset and its limit. */
export interface FoundRuns<Field extends RecordField = RecordField> {
  readonly total: number;
  readonly runs: readonly Pick<RunRecord, Field>[];
}

/** Which runs have changed since the last time. */
export interface RunsChanged {
  readonly runs: readonly number[];
  /** Those among them that have only trained on: curves, progress, log and files grew, all else is as it was. */
  readonly trained: readonly number[];
  /** Those of `trained` with new lines in their logs. */
  readonly logged: readonly number[];
}

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: 'info' | 'warning' | 'error';
  readonly message: string;
  /** Whoever watches the run sees it in another form already: for the log alone. Not kept. */
  readonly detail?: boolean;
}

/** Files that belong to a run. `preprocessing.json`, `model.json`, `best.safetensors` travel with exports. */
export type RunFile =
  | 'checkpoint.bin'
  | 'checkpoint.previous.bin'
  | 'best.safetensors'
  | 'preprocessing.json'
  | 'model.json'
  | 'evaluation.json'
  | 'predictions.json';

/** The history: the only owner of the database and of the run folders. */
export interface StoreService {
  createRun(run: NewRun): Promise<RunRecord>;
  /** With `when`, only a run in one of these states is changed; any other rejects with `run.changed`. */
  updateRun(request: { run: number; patch: RunPatch; when?: readonly RunState[] }): Promise<RunRecord>;
  /** Appends points and log lines in one transaction. Hands over what was asked of the run, once. */
  append(request: {
    run: number;
    points: readonly MetricPoint[];
    log?: readonly LogLine[];
    progress?: RunProgress;
    /** The same call was made before and its answer was lost: it is not to be carried out twice. */
    again?: boolean;
  }): Promise<{ request: RunRequest | null }>;
  /** Drops points after a step, where a checkpoint is continued; -1 drops all. */
  truncate(request: { run: number; afterStep: number }): Promise<void>;
  run(request: { run: number }): Promise<RunRecord>;
  runs<Field extends RecordField = RecordField>(query: RunQuery<Field>): Promise<FoundRuns<Field>>;
  /** Tags of the runs that are not in the trash, most used first. */
  tags(): Promise<readonly string[]>;
  /** What every run has cost that has begun, those in the trash included: what was spent stays spent. Oldest first. */
  bills(): Promise<readonly BilledRun[]>;
  /** Points of some series (all by default), thinned to `limit` points a series keeping each bucket's extremes. */
  metrics(request: {
    run: number;
    series?: readonly string[];
    limit?: number;
    afterStep?: number;
  }): Promise<readonly MetricPoint[]>;
  /** Lines after the first `after`; default: all. A log only grows. */
  log(request: { run: number; after?: number }): Promise<readonly LogLine[]>;
  deleteRuns(request: { runs: readonly number[] }): Promise<void>;
  restoreRuns(request: { runs: readonly number[] }): Promise<void>;
  /** Removes trashed runs and their files for good; all older than `olderThan` milliseconds. */
  purge(request: { olderThan?: number; runs?: readonly number[] }): Promise<{ runs: number; bytes: number }>;
  /** Writes a file of the run: temporary file, flush, rename. */
  writeFile(request: { run: number; file: RunFile; data: Uint8Array }): Promise<void>;
  /** null: there has been none. Rejects with `run.damaged_file` if it is not what was written, with `run.file_gone` if it was there. */
  readFile(request: { run: number; file: RunFile }): Promise<Uint8Array | null>;
  /**
   * Whether damage to the run's files would be found: not where the checksums that it had are gone. With `file`: whether there
   * is a checksum of that file; of earlier versions there is none.
   */
  isChecked(request: { run: number; file?: RunFile }): Promise<boolean>;
  /** Marks runs that had begun and whose owner is gone as interrupted; returns them. Queued ones stay queued. */
  recover(): Promise<readonly RunRecord[]>;
  /** Hands queued runs whose owner is gone to a new one, all or one of them; returns them in the order of queueing. */
  adopt(request: { owner: NewRun['owner']; run?: number }): Promise<readonly RunRecord[]>;
  /** A small value for the app: window, columns, theme, device measurements. */
  getSetting(request: { key: string }): Promise<unknown>;
  setSetting(request: { key: string; value: unknown }): Promise<void>;
  /** Labs, newest first. */
  labs(): Promise<readonly LabSummary[]>;
  /** Rejects with `input.unknown_lab`. */
  lab(request: { lab: number }): Promise<LabRecord>;
  /** Keeps a lab; one that is there already is not kept twice. */
  addLab(request: { result: LabResult; imported: boolean }): Promise<LabRecord>;
  deleteLab(request: { lab: number }): Promise<void>;
  onChanged(listener: (event: RunsChanged) => void): () => void;
  close(): Promise<void>;
}

/** Files that a run had and that are no longer in its folder. */
export interface MissingFiles {
  readonly run: number;
  readonly files: readonly string[];
}

/** What a repair has done. Lists hold numbers of runs; `missing` is there where a file is. */
export type RepairReport =
  | { readonly problem: null; readonly missing?: readonly MissingFiles[] }
  | {
      /** What was wrong, a sentence. */
      readonly problem: string;
      /** Where the damaged file is kept; null: there was none. */
      readonly setAside: string | null;
      /** The backup that was built on; null: there was none. */
      readonly backup: string | null;
      readonly fromBackup: readonly number[];
      /** Read from the damaged file: some of it may be missing or changed. */
      readonly salvaged: readonly number[];
      /** Rebuilt from their folders, or brought up to them: curves and logs since the last backup are lost. */
      readonly rebuilt: readonly number[];
      /** Folders that say nothing of their run; they stay as they are. */
      readonly silent: readonly number[];
      /** Parts of the damaged file could not be read. */
      readonly incomplete: boolean;
      readonly missing?: readonly MissingFiles[];
    };

/** A store's process started to repair instead of to serve. */
export interface RepairService {
  repair(): Promise<RepairReport>;
}

/** What a host is told to train. */
export interface RunJob {
  readonly run: number;
  readonly config: RunConfig;
  readonly data: PreparedData;
  /** Checkpoint to continue from. */
  readonly checkpoint?: Uint8Array;
}

/** A process that trains one run: CPU utility process, GPU window or the command line itself. */
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
  onFile(listener: (event: { file: RunFile; data: Uint8Array }) => void): () => void;
}
