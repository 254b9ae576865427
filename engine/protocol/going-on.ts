// How a run is asked to begin with another one.

import type { RunConfig, RunFile } from './runs.ts';

/** Which of the states that a run has kept: its best weights, the last, or those after an epoch. */
export type CheckpointChoice = 'best' | 'last' | number;

export interface ContinuationRequest {
  /** What goes on. */
  readonly run: number;
  /** With these settings: those of the run but for what is changed. */
  readonly config: RunConfig;
  /** Default: the last, of a run that diverged the best. */
  readonly checkpoint?: CheckpointChoice;
}

export interface TransferRequest {
  /** Whose weights. */
  readonly run: number;
  /** Default: the best. */
  readonly checkpoint?: CheckpointChoice;
  /** How many of its layers, from the first; default: all. */
  readonly upTo?: number;
}

/** What a state of a run has for a model that begins with it. */
export interface StartWeights {
  /** Of each tensor, by name. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Names of its classes in the order of its outputs; undefined: it has none, or predicts tokens. */
  readonly classes: readonly string[] | undefined;
}

/** Whether weights have learned from rows that are to judge them: of the same data, split otherwise. */
export function hasSeenRows(parent: RunConfig, config: RunConfig): boolean {
  if (parent.dataset !== config.dataset) return false;
  return parent.seed !== config.seed || splitOf(parent.settings) !== splitOf(config.settings);
}

const splitOf = ({ split, splitBy, fold }: RunConfig['settings']): string => JSON.stringify([split, splitBy, fold]);

/** A state that a run has kept. */
export interface Checkpoint {
  readonly kept: 'best' | 'last' | 'epoch';
  /** Epochs done. */
  readonly epoch: number;
  /** All that going on needs; else weights alone. */
  readonly everything: boolean;
  readonly bytes: number;
  readonly file: RunFile;
}
