// Trees so far and their losses, as a checkpoint: JSON with all that is needed to go on bit for bit, for scores are made of the
// trees again, and bins of the rows.

import { TrainyardError } from '../../protocol/errors.ts';
import type { LearnerJob } from '../learner.ts';
import { decodeText, encodeText } from '../../train/safetensors.ts';
import type { TreeFile } from './model-schema.ts';

const format = 'trainyard-trees-1';

export interface TreesSoFar {
  /** The first scores. */
  readonly first: readonly number[];
  readonly trees: readonly TreeFile[];
  readonly trainLoss: readonly number[];
  readonly validationLoss: readonly number[];
  /** Spent so far. */
  readonly seconds: number;
  /** Of those, spent by the run that this one goes on from. */
  readonly taken?: number;
}

export function encodeTrees(state: TreesSoFar): Uint8Array {
  return encodeText(JSON.stringify({ format, ...state }));
}

/** Throws TrainyardError `run.checkpoint` when the file is none, or a damaged one. */
export function decodeTrees(file: Uint8Array): TreesSoFar {
  let state: unknown = null;
  try {
    state = JSON.parse(decodeText(file));
  } catch {
    // As below.
  }
  if (isState(state)) return state;
  throw new TrainyardError(
    'run.checkpoint',
    'The checkpoint is damaged: it does not say which trees there were.',
    'Start the run again from its settings.',
  );
}

/** How far a run was when it wrote a checkpoint; `rounds`: trees, or of boosting those of a round. Throws as above. */
export function placeOfTrees(
  file: Uint8Array,
  rounds: (trees: TreesSoFar) => number,
): { epoch: number; step: number; seconds: number } {
  const state = decodeTrees(file);
  return { epoch: rounds(state), step: rounds(state), seconds: state.seconds };
}

/** What a training goes on from: its own checkpoint, or that of the run before it, whose seconds are not its own. */
export function treesBefore({ checkpoint, start }: Pick<LearnerJob, 'checkpoint' | 'start'>): TreesSoFar | null {
  if (checkpoint) return decodeTrees(checkpoint);
  if (!start) return null;
  const before = decodeTrees(start.file);
  return { ...before, taken: before.seconds };
}

const arrays = ['first', 'trees', 'trainLoss', 'validationLoss'] as const;

function isState(value: unknown): value is TreesSoFar {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Readonly<Record<keyof TreesSoFar | 'format', unknown>>;
  return (
    state.format === format && arrays.every((name) => Array.isArray(state[name])) && Number.isFinite(state.seconds)
  );
}
