// What is done so that a history is never lost: backups and restoring them, runs carried to another machine, what takes how much
// room on the disk. Work that takes long has a job: progress comes by it, and it can be cancelled.

/** What the name of such a file ends in where nobody says otherwise; others are read as well. */
export const archiveEnding = '.trainyard';

/** Such a file is a tar archive whose first entry has this name. */
export const archiveHeadPath = 'trainyard.json';

/** What a file of Trainyard's says of itself, in its first entry. */
export interface ArchiveHead {
  readonly format: 1;
  /** A home as a whole, or some of its runs. */
  readonly kind: 'home' | 'runs';
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Name of the machine it was made on. */
  readonly machine: string;
  readonly runs: number;
  /** How many datasets came with it. */
  readonly datasets: number;
}

/** What has been written, and read again to see that it is all there. */
export interface ArchiveReport extends ArchiveHead {
  readonly file: string;
  readonly files: number;
  readonly bytes: number;
}

/** Where a run came from that another home has made. */
export interface RunOrigin {
  /** Its number there. */
  readonly run: number;
  readonly machine: string;
  readonly importedAt: number;
}

export interface ImportedRun {
  /** Its number in the file. */
  readonly from: number;
  /** Its number here. */
  readonly run: number;
  readonly name: string;
}

export interface RefusedRun {
  /** Its number in the file; null: not even that can be read. */
  readonly from: number | null;
  readonly name: string;
  readonly why: string;
}

export interface ImportReport {
  readonly machine: string;
  readonly imported: readonly ImportedRun[];
  /** Those that were here already. */
  readonly known: readonly ImportedRun[];
  /** Those that cannot be used, and why, a part of a sentence. */
  readonly refused: readonly RefusedRun[];
  /** Datasets that were not here before. */
  readonly datasets: number;
}

export interface RestoreReport {
  /** What stands in the home now. */
  readonly head: ArchiveHead;
  /** Where what was there before is kept; null: there was nothing. */
  readonly setAside: string | null;
}

export interface JobProgress {
  readonly stage: string;
  /** 0 … 1 */
  readonly share: number;
}

/** A part of the home and what it takes. */
export interface UsagePart {
  readonly id: UsageId;
  readonly bytes: number;
  /** Runs, files or datasets. */
  readonly count: number;
}

export const usageIds = [
  'history',
  'logs',
  'free',
  'weights',
  'checkpoints',
  'trash',
  'datasets',
  'backups',
  'set_aside',
  'other',
] as const;
export type UsageId = (typeof usageIds)[number];

/** What takes how much room. `logs` and `free` are shares of the history's file, which `history` is the rest of. */
export interface HomeUsage {
  readonly parts: readonly UsagePart[];
  readonly bytes: number;
  /** Free on the disk that holds the home. */
  readonly left: number;
  /** How long the trash keeps a run, in days. */
  readonly trashDays: number;
}

/** A store's process started to restore a home instead of serving it. */
export interface RestoreService {
  restore(request: { file: string }): Promise<RestoreReport>;
  cancelRestore(): Promise<void>;
  onRestoreProgress(listener: (progress: JobProgress) => void): () => void;
}
