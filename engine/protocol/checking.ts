// What a check before a long run tells: findings, what was drawn from, and the verdict. Layers by their order, losses by steps.

import type { Value } from '../settings/field.ts';
import type { PreparedData, Progress } from './data.ts';
import type { Finding, FindingAction } from './finding.ts';
import type { RunConfig } from './runs.ts';

/** In the order they are made. */
export const checkIds = [
  'data',
  'start',
  'gradients',
  'activations',
  'agreement',
  'heart',
  'shuffled',
  'dead',
] as const;
export type CheckId = (typeof checkIds)[number];

/** `undone`: it could not be made, and counts neither way. */
export type CheckKind = 'fix' | 'look' | 'undone' | 'fine';

/** What is to be changed in the settings; several together are made one after the other. */
export interface ConfigChange {
  /** The learner's own settings by their names. */
  readonly settings?: Readonly<Record<string, Value>>;
  /** A batch norm between the sums and the activation of every hidden layer. */
  readonly batchNorm?: true;
  /** The activation of every hidden layer. */
  readonly activation?: 'relu' | 'leaky_relu';
  /** At most so many hidden layers, the first; of plain stacks of dense layers alone. */
  readonly hidden?: number;
}

/** What to try: the settings with this change alone, and the change, so that several can be made at once. */
export interface CheckAction extends FindingAction {
  readonly changes: ConfigChange;
}

/** What is drawn from the weights or the units of a layer: the 10th, 50th and 90th of 100. */
export interface LayerSpread {
  readonly name: string;
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** A level that is judged against. */
export interface DrawnLimit {
  readonly value: number;
  readonly words: string;
}

export type Drawing =
  /** Sizes by layer, on a logarithmic scale; `tried`: medians of the same model with the change of its finding. */
  | {
      readonly kind: 'layers';
      readonly of: string;
      readonly note: string;
      readonly layers: readonly LayerSpread[];
      readonly limits: readonly DrawnLimit[];
      readonly tried?: { readonly words: string; readonly median: readonly number[] };
    }
  /** Losses by step. */
  | {
      readonly kind: 'curves';
      readonly of: string;
      readonly note: string;
      readonly logarithmic: boolean;
      readonly curves: readonly { readonly name: string; readonly values: readonly number[] }[];
      readonly limits: readonly DrawnLimit[];
    }
  /** Of single gradients: size and relative difference, on logarithmic scales. */
  | {
      readonly kind: 'agreement';
      readonly note: string;
      readonly sizes: readonly number[];
      readonly differences: readonly number[];
      readonly limits: readonly DrawnLimit[];
    }
  /** Shares of something by layer, 0 … 1. */
  | {
      readonly kind: 'shares';
      readonly of: string;
      readonly note: string;
      readonly bars: readonly { readonly name: string; readonly share: number }[];
      readonly limits: readonly DrawnLimit[];
    }
  /** Rows a second that are read and trained on. */
  | { readonly kind: 'rates'; readonly note: string; readonly read: number; readonly used: number | null };

export interface CheckFinding extends Finding<CheckId, CheckKind> {
  readonly action?: CheckAction;
  readonly drawing?: Drawing;
}

export interface CheckReport {
  readonly verdict: 'fix' | 'look' | 'fine';
  /** The verdict in one sentence. */
  readonly sentence: string;
  /** What not acting costs, or what the run will take; empty where it cannot be told. */
  readonly cost: string;
  /** What there is to fix first. */
  readonly findings: readonly CheckFinding[];
  /** Checks that were made. */
  readonly done: number;
  readonly seconds: number;
  /** Where it was checked: `CPU, 2 threads`. */
  readonly device: string;
  /** Seconds of all epochs at the speed measured here; null: it was not measured. */
  readonly runSeconds: number | null;
  /** All that is to be tried at once; null: nothing is. */
  readonly changed: { readonly config: RunConfig; readonly count: number; readonly words: string } | null;
}

export interface CheckRequest {
  /** Names the work for progress and cancel. */
  readonly job: string;
  readonly config: RunConfig;
  readonly data: PreparedData;
}

export interface ExaminerService {
  /** Takes some ten seconds; findings go to `onFinding` as they are known. Rejects with CancelledError after `cancel`. */
  check(request: CheckRequest): Promise<CheckReport>;
  cancel(request: { job: string }): Promise<void>;
  onFinding(listener: (event: { job: string; finding: CheckFinding }) => void): () => void;
  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void;
}
