// Runs as they cross process borders: what is asked of a trainer, what it reports, what the history keeps.

import type { CommonSettings } from '../settings/run.ts';
import type { HostSpending, RunBill } from './bill.ts';
import type { DatasetSettings, LeftOutColumn, SplitName } from './data.ts';
import type { WireError } from './errors.ts';
import type { RunRelation, RunStart } from './family.ts';
import type { AutoProgress, LeaderboardRow, LearningCurve, LeftOutModel } from './leaderboard.ts';
import type { RunOrigin } from './keeping.ts';
import type { QueuePlace } from './queue.ts';
import type { SearchResult, SearchStanding } from './search.ts';

export const runStates = [
  'queued',
  'running',
  'paused',
  'completed',
  'stopped',
  'diverged',
  'failed',
  'interrupted',
] as const;
export type RunState = (typeof runStates)[number];

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
  /** When it is to be done, in milliseconds since 1970: epochs and schedule, trees, or the size of a search are chosen so that it ends by then. */
  readonly until?: number;
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

/** What several devices have done of the steps of a run, this attempt. Seconds. */
export interface Sharing {
  readonly steps: number;
  readonly devices: readonly DeviceShare[];
  /** Handing gradients and weights over and summing them, which nothing else hides. */
  readonly exchange: number;
  readonly update: number;
  /** Milliseconds of a step before the first one: on the device that would be fastest by itself, and on all together. */
  readonly alone?: { readonly name: string; readonly milliseconds: number; readonly together: number };
}

export interface DeviceShare {
  /** `CPU 2`, `GPU`. */
  readonly name: string;
  /** Of a full batch. */
  readonly rows: number;
  readonly working: number;
  /** For those who took longer. */
  readonly waiting: number;
  /** It failed, and another one makes its share. */
  readonly lost?: boolean;
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
  /** Of the best of all. */
  readonly auto?: AutoProgress;
  readonly search?: SearchStanding<RunConfig>;
  /** Of a run on several devices. */
  readonly sharing?: Sharing;
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

/** One fold, as it ended. */
export interface FoldResult {
  /** Which, from 1. */
  readonly fold: number;
  readonly state: RunState;
  /** Of its test split: `test_accuracy`, …; empty where it does not stand. */
  readonly metrics: Metrics;
  /** Why it does not stand; null: it does. */
  readonly problem: string | null;
}

/** What a cross-validation comes to: mean and deviation over the folds that stand. */
export interface FoldsResult {
  readonly of: number;
  readonly folds: readonly FoldResult[];
  readonly mean: Metrics;
  /** Standard deviation over the folds, divided by their number (scikit-learn's `std_test_score`). */
  readonly deviation: Metrics;
}

/** What was planned of a run that was to be done by a time, and what became of it. */
export interface DeadlineResult {
  /** Milliseconds since 1970, as `ended`. */
  readonly until: number;
  /** Epochs, or what it counts its way by, that there was time for by the first of them; absent: it plans no number. */
  readonly planned?: number;
  /** Those that there were. */
  readonly epochs: number;
  readonly ended: number;
  /** It came to the end of its schedule; absent: it has none. */
  readonly annealed?: boolean;
  /** The epoch after which more brought nothing: it ended before its time for that. */
  readonly enough?: number;
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
  /** Of a cross-validation: its other figures are means and sums over the folds that stand. */
  readonly folds?: FoldsResult;
  /** Of the best of all: the ensemble, then its members by their scores. */
  readonly leaderboard?: readonly LeaderboardRow[];
  /** Where it was asked for. */
  readonly learningCurve?: LearningCurve;
  readonly leftOutModels?: readonly LeftOutModel[];
  readonly search?: SearchResult<RunConfig>;
  /** Of a run that was to be done by a time. */
  readonly deadline?: DeadlineResult;
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
  /**
   * Last and best value of every series. Best is what the weights score that are kept (of the least validation loss); of a series without
   * such, its lowest for losses and errors, else its highest.
   */
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
  /** The group it belongs to; null = none. */
  readonly group: string | null;
  /** Where it came from, of a run that another home has made; null = made here. */
  readonly origin: RunOrigin | null;
  /** What another process asked of the run, until its host has seen it. */
  readonly request: RunRequest | null;
  /** The run it comes from, and how; null: it began by itself. The parent may be gone. */
  readonly parent: number | null;
  readonly relation: RunRelation | null;
  readonly start: RunStart | null;
  /** Where it stands among those that wait; null: where its number puts it. It says nothing of a run that has begun. */
  readonly queue: QueuePlace | null;
}

export type RunRequest = 'pause' | 'resume' | 'stop';

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
  | 'start.bin'
  | EpochFile
  | 'best.safetensors'
  | 'preprocessing.json'
  | 'model.json'
  | 'evaluation.json'
  | 'predictions.json'
  | 'baseline.safetensors';

/** A state that is kept for good: everything, or weights alone. */
export type EpochFile = `epoch-${number}.bin` | `epoch-${number}.safetensors`;

/** A file of a run as it is handed over. `together`: others that stand for one thing with it, kept with it or not at all. */
export interface WrittenFile {
  readonly file: RunFile;
  readonly data: Uint8Array;
  readonly together?: Readonly<Partial<Record<RunFile, Uint8Array>>>;
}

/** Files of which a trainer hands over no other until one is kept. */
export const isWaitedFor = (file: RunFile): boolean => file === 'checkpoint.bin' || file.startsWith('epoch-');
