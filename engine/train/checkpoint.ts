// A checkpoint holds everything that decides a run's future: parameters, statistics, optimizer state, the place in the
// epoch, the losses summed so far and the best weights yet. Random numbers need no state: they are functions of seed, epoch
// and step. A run continued from it follows the same curve as one that never stopped.

import { TrainyardError } from '../protocol/errors.ts';
import { checkSafetensors, decodeSafetensors, encodeSafetensors, type SafeTensor } from './safetensors.ts';

/** Where in the run, and what is known so far. Plain JSON. */
export interface TrainingState {
  /** Epochs completed. */
  epoch: number;
  /** Windows of the current epoch completed, and steps of the current window. */
  window: number;
  windowStep: number;
  /** Steps since the start of the run. */
  step: number;
  /** Sum of loss · rows and of rows over the current epoch. */
  lossSum: number;
  lossRows: number;
  /** Sum and number of the losses in the current bucket of the step curve. */
  bucketSum: number;
  bucketSteps: number;
  /** Seconds of training so far, pauses left out. */
  seconds: number;
  bestLoss: number | null;
  bestEpoch: number;
  /** Epochs since the best one. */
  stale: number;
}

export const initialState = (): TrainingState => ({
  epoch: 0,
  window: 0,
  windowStep: 0,
  step: 0,
  lossSum: 0,
  lossRows: 0,
  bucketSum: 0,
  bucketSteps: 0,
  seconds: 0,
  bestLoss: null,
  bestEpoch: 0,
  stale: 0,
});

export interface Checkpoint {
  readonly state: TrainingState;
  /** Identifies the plan's tensors: a checkpoint of another model is refused. */
  readonly tensors: Readonly<Record<string, SafeTensor>>;
  /** Weights of the best epoch, by tensor name. */
  readonly best: Readonly<Record<string, SafeTensor>>;
}

const format = 'trainyard-checkpoint-1';
const bestPrefix = 'best:';

export function encodeCheckpoint({ state, tensors, best }: Checkpoint): Uint8Array {
  const prefixed = Object.entries(best).map(([name, tensor]) => [bestPrefix + name, tensor] as const);
  return encodeSafetensors({
    tensors: { ...tensors, ...Object.fromEntries(prefixed) },
    metadata: { format, state: JSON.stringify(state) },
  });
}

/** Throws TrainyardError when the file is no checkpoint, a damaged one, or one of another version. */
export function decodeCheckpoint(file: Uint8Array): Checkpoint {
  const { tensors, metadata } = decodeSafetensors(file);
  const state = stateOf(metadata);
  const current: [string, SafeTensor][] = [];
  const best: [string, SafeTensor][] = [];
  for (const [name, tensor] of Object.entries(tensors)) {
    if (name.startsWith(bestPrefix)) best.push([name.slice(bestPrefix.length), tensor]);
    else current.push([name, tensor]);
  }
  return { state, tensors: Object.fromEntries(current), best: Object.fromEntries(best) };
}

/** Throws like `decodeCheckpoint`, without taking the memory for its tensors. */
export function checkCheckpoint(file: Uint8Array): void {
  stateOf(checkSafetensors(file));
}

function stateOf(metadata: Readonly<Record<string, string>>): TrainingState {
  if (metadata.format !== format) {
    throw new TrainyardError(
      'run.checkpoint',
      `The checkpoint has format “${metadata.format ?? 'unknown'}”, this version reads “${format}”.`,
      'Start the run again from its settings.',
    );
  }
  let state: unknown;
  try {
    state = JSON.parse(metadata.state ?? '');
  } catch {
    state = null;
  }
  if (isState(state)) return state;
  throw new TrainyardError(
    'run.checkpoint',
    'The checkpoint is damaged: it does not say where the run was.',
    'Start the run again from its settings.',
  );
}

const counts = ['epoch', 'window', 'windowStep', 'step', 'lossRows', 'bucketSteps', 'bestEpoch', 'stale'] as const;
const sums = ['lossSum', 'bucketSum', 'seconds'] as const;

function isState(value: unknown): value is TrainingState {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Readonly<Record<keyof TrainingState, unknown>>;
  const { bestLoss } = state;
  return (
    counts.every((name) => Number.isSafeInteger(state[name]) && (state[name] as number) >= 0) &&
    sums.every((name) => Number.isFinite(state[name])) &&
    (bestLoss === null || Number.isFinite(bestLoss))
  );
}
