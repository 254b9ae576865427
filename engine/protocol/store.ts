// The history as a service: what is kept of runs, how it is asked for and changed.

import type { BilledRun } from './bill.ts';
import type { WireError } from './errors.ts';
import type { RunRelation, RunStart } from './family.ts';
import type { QueuePlace } from './queue.ts';
import type { Trial } from './search.ts';
import type { ArchiveReport, HomeUsage, ImportReport, JobProgress } from './keeping.ts';
import type { LabRecord, LabResult, LabSummary } from './lab.ts';
import type {
  RunState,
  RunConfig,
  MetricPoint,
  RunProgress,
  RunData,
  RunResult,
  RunRecord,
  RunRequest,
  LogLine,
  RunFile,
  WrittenFile,
} from './runs.ts';

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
  'parent',
  'relation',
  'start',
  'group',
  'origin',
  'queue',
] as const satisfies readonly (keyof RunRecord)[];

export type RecordField = (typeof recordFields)[number];

/** What a new run comes from. */
export interface Family {
  readonly parent: number;
  readonly relation: RunRelation;
  readonly start: RunStart;
  /** The file of its parent that it begins with, kept as its own `start.bin`. */
  readonly file?: RunFile;
  /** The parent's points up to this step are its own, too. */
  readonly untilStep?: number;
}

export interface NewRun {
  readonly name: string;
  readonly dataset: string;
  readonly datasetName: string;
  readonly config: RunConfig;
  /** Process that answers for the run, from `processOwner()`: others find out from it whether the run still lives. */
  readonly owner: { readonly pid: number; readonly startedAt: number };
  /** Of a run that comes from another one. */
  readonly family?: Family;
  /** Without a position it stands behind all that wait. */
  readonly queue?: Partial<QueuePlace>;
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
  /** null: none. */
  readonly group?: string | null;
  readonly request?: RunRequest | null;
  readonly owner?: { readonly pid: number; readonly startedAt: number };
  readonly queue?: QueuePlace | null;
}

/** A name that runs belong together by. */
export interface RunGroup {
  readonly name: string;
  readonly runs: number;
}

export interface RunQuery<Field extends RecordField = RecordField> {
  /** Words that all have to stand in its name, dataset, group, tags, notes, columns or settings; parts of words count. */
  readonly search?: string;
  readonly states?: readonly RunState[];
  readonly dataset?: string;
  /** Those that come from this run. */
  readonly parent?: number;
  /** Without those that are a fold of another one, or a member. */
  readonly withoutFolds?: boolean;
  readonly tags?: readonly string[];
  readonly starred?: boolean;
  readonly group?: string;
  readonly deleted?: boolean;
  /**
   * `name`, `state`, `dataset`, `device`, `threads`, `parameters`, `createdAt`, `startedAt`, `endedAt`, `duration`, `starred`, `group`,
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

/** A file in the folder of a run. */
export interface KeptFile {
  readonly file: RunFile;
  readonly bytes: number;
}

/** Which runs have changed since the last time. */
export interface RunsChanged {
  readonly runs: readonly number[];
  /** Those among them that have only trained on: curves, progress, log and files grew, all else is as it was. */
  readonly trained: readonly number[];
  /** Those of `trained` with new lines in their logs. */
  readonly logged: readonly number[];
}

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
  /** Groups of the runs that are not in the trash, by name. */
  groups(): Promise<readonly RunGroup[]>;
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
  /** Trials of a search that have ended; one that is there already stays as it is. */
  keepTrials(request: { run: number; trials: readonly Trial[] }): Promise<void>;
  /** By their numbers, those after trial `after`; default: all. */
  trials(request: { run: number; after?: number; limit?: number }): Promise<readonly Trial[]>;
  deleteRuns(request: { runs: readonly number[] }): Promise<void>;
  restoreRuns(request: { runs: readonly number[] }): Promise<void>;
  /** Removes trashed runs and their files for good; all older than `olderThan` milliseconds. */
  purge(request: { olderThan?: number; runs?: readonly number[] }): Promise<{ runs: number; bytes: number }>;
  /** Writes a file of the run: temporary file, flush, rename; with those that stand for one thing `together` with it: all of them or none. */
  writeFile(request: { run: number } & WrittenFile): Promise<void>;
  /** Removes a file of a run for good. */
  removeFile(request: { run: number; file: RunFile }): Promise<void>;
  /** The files of a run that are there. */
  files(request: { run: number }): Promise<readonly KeptFile[]>;
  /** null: there has been none. Rejects with `run.damaged_file` if it is not what was written, with `run.file_gone` if it was there. */
  readFile(request: { run: number; file: RunFile }): Promise<Uint8Array | null>;
  /**
   * Whether damage to the run's files would be found: not where the checksums that it had are gone. With `file`: whether there
   * is a checksum of that file; of earlier versions there is none.
   */
  isChecked(request: { run: number; file?: RunFile }): Promise<boolean>;
  /** Marks runs that had begun and whose owner is gone as interrupted; returns them. Queued ones stay queued. */
  recover(): Promise<readonly RunRecord[]>;
  /**
   * Hands queued runs whose owner is gone to a new one, all or one of them; returns them in the order of queueing. With `from` those of that
   * owner, who lets them go.
   */
  adopt(request: { owner: NewRun['owner']; run?: number; from?: NewRun['owner'] }): Promise<readonly RunRecord[]>;
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
  /** Writes the home to one file and reads it again; runs go on meanwhile. Progress and `cancelJob` go by the job. */
  backUp(request: { job: string; file: string; datasets: boolean }): Promise<ArchiveReport>;
  /** Some runs as a file for another home. Rejects with `input.run_active` for one that goes on. */
  exportRuns(request: {
    job: string;
    file: string;
    runs: readonly number[];
    datasets: boolean;
  }): Promise<ArchiveReport>;
  /** Takes up the runs of such a file, or of a backup, under new numbers; those that are here already are not taken up twice. */
  importRuns(request: { job: string; file: string }): Promise<ImportReport>;
  cancelJob(request: { job: string }): Promise<void>;
  /** What takes how much room. */
  usage(): Promise<HomeUsage>;
  /** Gives back to the disk what the history's file has no use for. Rejects with `input.run_active` while runs go on. */
  compact(): Promise<{ before: number; after: number }>;
  /** Removes what repairs and restores have set aside: damaged histories, homes of before. */
  dropSetAside(): Promise<{ bytes: number }>;
  onJob(listener: (event: { job: string; progress: JobProgress }) => void): () => void;
  close(): Promise<void>;
}

/** Files that a run had and that are no longer in its folder. */
export interface MissingFiles {
  readonly run: number;
  readonly files: readonly string[];
}

/** What a repair has done. Lists hold numbers of runs; `missing` is there where a file is. */
export interface UnreadableRun {
  readonly run: number;
  /** `settings`, `result`, … */
  readonly parts: readonly string[];
}

export type RepairReport =
  | {
      readonly problem: null;
      readonly missing?: readonly MissingFiles[];
      /** Runs of which something cannot be read. */
      readonly unreadable?: readonly UnreadableRun[];
    }
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
      readonly unreadable?: readonly UnreadableRun[];
    };

/** A store's process started to repair instead of to serve. */
export interface RepairService {
  repair(): Promise<RepairReport>;
}
