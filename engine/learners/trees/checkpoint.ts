// Trees so far and their losses, as a checkpoint: JSON with all that is needed to go on bit for bit, for scores are made of the
// trees again, and bins of the rows.

import { TrainyardError } from '../../protocol/errors.ts';
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

const arrays = ['first', 'trees', 'trainLoss', 'validationLoss'] as const;

function isState(value: unknown): value is TreesSoFar {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Readonly<Record<keyof TreesSoFar | 'format', unknown>>;
  return (
    state.format === format && arrays.every((name) => Array.isArray(state[name])) && Number.isFinite(state.seconds)
  );
}
