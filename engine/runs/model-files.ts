// The files that make a run a model one can use, as texts and bytes; and what has to be said of them.

import { InputError, TrainyardError } from '../protocol/errors.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import type { DataWarning } from '../protocol/data.ts';
import type { CheckpointChoice } from '../protocol/going-on.ts';
import { readWeightsOf, type CheckpointStore } from './checkpoints.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';

export interface ModelFiles {
  readonly model: string;
  readonly preprocessing: string;
  readonly weights: Uint8Array;
}

/** What a cross-validation is asked for and does not have. */
function onlyFolds(run: number): InputError {
  return new InputError(
    'input.folds',
    `Run ${run} is a cross-validation: its folds have models, it has none.`,
    'Evaluate it, or train its settings without folds for a model.',
  );
}

/** Why a run has no model: `input.folds` or `run.no_model`. */
export function noModel({ id, config }: Pick<RunRecord, 'id' | 'config'>): TrainyardError {
  if (isCrossValidation(config)) return onlyFolds(id);
  return new TrainyardError('run.no_model', `Run ${id} has no trained model yet.`, 'Train it to its end first.');
}

/**
 * Reads them. Throws TrainyardError `run.no_model` when the run has not kept a model yet, `run.file_gone` and
 * `run.damaged_file`.
 */
export async function readModelFiles(store: Pick<StoreService, 'readFile' | 'run'>, run: number): Promise<ModelFiles> {
  const weights = await store.readFile({ run, file: 'best.safetensors' });
  const model = await store.readFile({ run, file: 'model.json' });
  const preprocessing = await store.readFile({ run, file: 'preprocessing.json' });
  if (!weights || !model || !preprocessing) {
    throw noModel(await store.run({ run }));
  }
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { model: text(model), preprocessing: text(preprocessing), weights };
}

/** The same with the weights of another state that the run has kept. Throws `run.no_start` where it has not. */
export async function readModelFilesOf(
  store: CheckpointStore,
  run: number,
  checkpoint: CheckpointChoice = 'best',
): Promise<ModelFiles> {
  const files = await readModelFiles(store, run);
  if (checkpoint === 'best') return files;
  return { ...files, weights: (await readWeightsOf(store, run, checkpoint)) ?? files.weights };
}

/** What has to be said to whoever uses them. */
export async function modelFileWarnings(store: StoreService, run: number): Promise<readonly DataWarning[]> {
  if (await store.isChecked({ run })) return [];
  const message = `The list of checksums of run ${run}, runs/${run}/checksums.json, is gone or damaged: whether its files are what was written cannot be told.`;
  return [{ code: 'unchecked_files', message }];
}
