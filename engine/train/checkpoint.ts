// A checkpoint holds everything that decides a run's future: parameters, statistics, optimizer state, the place in the
// epoch in rows and the size of the windows that decide their order, the losses summed so far and the best weights yet. Random
// numbers need no state: they are functions of seed, epoch and step. A run continued from it follows the same curve as one
// that never stopped, whatever the device and its memory.

import { TrainyardError } from '../protocol/errors.ts';
import { isPlan, type DeadlinePlan } from './deadline.ts';
import {
  checkSafetensors,
  decodeSafetensors,
  layOutSafetensors,
  type LaidOutFile,
  type SafeTensor,
} from './safetensors.ts';

/** Where in the run, and what is known so far. Plain JSON. */
export interface TrainingState {
  /** Epochs completed. */
  epoch: number;
  /** Rows of the current epoch trained on. */
  rows: number;
  /** Rows of a window at most: with the seed, this decides in which order an epoch visits the rows. */
  windowRows: number;
  /** Steps since the start of the run. */
  step: number;
  /** Sum of loss · rows over the current epoch. */
  lossSum: number;
  /** Sum and number of the losses in the current bucket of the step curve. */
  bucketSum: number;
  bucketSteps: number;
  /** Seconds of training so far, pauses left out. */
  seconds: number;
  bestLoss: number | null;
  bestEpoch: number;
  /** Epochs since the best one. */
  stale: number;
  /** Where the learning rate's schedule began: with the run, or where it went on with other settings. */
  scheduleStep: number;
  scheduleEpoch: number;
  /** Step at which the optimizer's state was new. */
  optimizerStep: number;
  /** Seconds of training that were another run's. */
  takenSeconds: number;
  /** Rows of a full batch for each of several devices: with the seed, this decides every bit. Absent: it was not shared. */
  shares?: readonly number[];
  /** Of a run that is to be done by a time; absent: the settings say how many epochs it has. */
  plan?: DeadlinePlan;
}

/** What there was no word of before runs could go on as others. */
const ofFirstRun = { scheduleStep: 0, scheduleEpoch: 0, optimizerStep: 0, takenSeconds: 0 } as const;

export const initialState = (): TrainingState => ({
  epoch: 0,
  rows: 0,
  windowRows: 0,
  step: 0,
  lossSum: 0,
  bucketSum: 0,
  bucketSteps: 0,
  seconds: 0,
  bestLoss: null,
  bestEpoch: 0,
  stale: 0,
  ...ofFirstRun,
});

/** What the first format noted of the place in an epoch, besides the rows: it had no word of the windows' size. */
export interface OldPlace {
  /** Windows of the epoch completed, and steps of the window under way. */
  readonly window: number;
  readonly windowStep: number;
}

export interface Checkpoint {
  readonly state: TrainingState;
  /** Of a checkpoint in the first format, whose `state.windowRows` is 0. */
  readonly oldPlace?: OldPlace;
  /** Identifies the plan's tensors: a checkpoint of another model is refused. */
  readonly tensors: Readonly<Record<string, SafeTensor>>;
  /** Weights of the best epoch, by tensor name. */
  readonly best: Readonly<Record<string, SafeTensor>>;
}

const format = 'trainyard-checkpoint-2';
const firstFormat = 'trainyard-checkpoint-1';
const bestPrefix = 'best:';

/** A checkpoint with its best weights in it; the tensors of these shapes are still to be put into their places. `memory`: as for any file. */
export function layOutCheckpoint(
  { state, best }: Pick<Checkpoint, 'state' | 'best'>,
  tensors: Readonly<Record<string, { readonly shape: readonly number[] }>>,
  memory?: (bytes: number) => ArrayBuffer,
): LaidOutFile {
  const prefixed = Object.entries(best).map(([name, tensor]) => [bestPrefix + name, tensor] as const);
  const metadata = { format, state: JSON.stringify(state) };
  const laidOut = layOutSafetensors({ ...tensors, ...Object.fromEntries(prefixed) }, metadata, memory);
  for (const [name, { data }] of prefixed) laidOut.places[name].set(data);
  return laidOut;
}

/** Throws TrainyardError when the file is no checkpoint, a damaged one, or one of another version. */
export function decodeCheckpoint(file: Uint8Array): Checkpoint {
  const { tensors, metadata } = decodeSafetensors(file);
  const place = placeOf(metadata);
  const current: [string, SafeTensor][] = [];
  const best: [string, SafeTensor][] = [];
  for (const [name, tensor] of Object.entries(tensors)) {
    if (name.startsWith(bestPrefix)) best.push([name.slice(bestPrefix.length), tensor]);
    else current.push([name, tensor]);
  }
  return { ...place, tensors: Object.fromEntries(current), best: Object.fromEntries(best) };
}

/** Throws like `decodeCheckpoint`, without taking the memory for its tensors. */
export function checkCheckpoint(file: Uint8Array): void {
  placeOf(checkSafetensors(file));
}

/** Whether a file of tensors says that it is a checkpoint; others are weights alone. */
export function isCheckpoint(file: Uint8Array): boolean {
  return checkSafetensors(file).format?.startsWith('trainyard-checkpoint-') ?? false;
}

/** How far the run was. Throws like `decodeCheckpoint`. */
export function placeOfCheckpoint(file: Uint8Array): { epoch: number; step: number; seconds: number } {
  const { epoch, step, seconds } = placeOf(checkSafetensors(file)).state;
  return { epoch, step, seconds };
}

/** How a run shared its batch of so many rows over several devices; null: it did not. Throws like `decodeCheckpoint`. */
export function sharesOfCheckpoint(file: Uint8Array, batch: number): readonly number[] | null {
  const { shares } = placeOf(checkSafetensors(file)).state;
  return shares?.reduce((sum, rows) => sum + rows, 0) === batch ? shares : null;
}

function placeOf(metadata: Readonly<Record<string, string>>): Pick<Checkpoint, 'state' | 'oldPlace'> {
  if (metadata.format !== format && metadata.format !== firstFormat) {
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
  const place =
    metadata.format === firstFormat ? ofFirstFormat(state) : { state: { ...ofFirstRun, ...(state as object | null) } };
  if (isPlace(place)) return place;
  throw new TrainyardError(
    'run.checkpoint',
    'The checkpoint is damaged: it does not say where the run was.',
    'Start the run again from its settings.',
  );
}

/** The state of the first format, as far as it makes sense, in the form of today's. */
function ofFirstFormat(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null;
  const { window, windowStep, lossRows, ...state } = value as Readonly<Record<string, unknown>>;
  return { state: { ...ofFirstRun, ...state, rows: lossRows, windowRows: 0 }, oldPlace: { window, windowStep } };
}

const counts = [
  'epoch',
  'rows',
  'windowRows',
  'step',
  'bucketSteps',
  'bestEpoch',
  'stale',
  'scheduleStep',
  'scheduleEpoch',
  'optimizerStep',
] as const;
const sums = ['lossSum', 'bucketSum', 'seconds', 'takenSeconds'] as const;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function isPlace(value: unknown): value is Pick<Checkpoint, 'state' | 'oldPlace'> {
  if (typeof value !== 'object' || value === null) return false;
  const { state, oldPlace } = value as { readonly state?: unknown; readonly oldPlace?: OldPlace };
  return isState(state) && (oldPlace === undefined || (isCount(oldPlace.window) && isCount(oldPlace.windowStep)));
}

function isState(value: unknown): value is TrainingState {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Readonly<Record<keyof TrainingState, unknown>>;
  const { bestLoss, shares } = state;
  return (
    counts.every((name) => isCount(state[name])) &&
    sums.every((name) => Number.isFinite(state[name])) &&
    (bestLoss === null || Number.isFinite(bestLoss)) &&
    (shares === undefined || (Array.isArray(shares) && shares.every(isCount))) &&
    (state.plan === undefined || isPlan(state.plan))
  );
}
