// The files that make a run a model one can use, as texts and bytes; and what has to be said of them. Those of a cross-validation are made of
// those of its folds whenever they are asked for: it predicts as the mean of their models.

import { ensembleOfFolds, type FoldFiles } from '../learners/auto/of-folds.ts';
import { asColumns, withReadings } from '../learners/text-readings.ts';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import type { DataWarning } from '../protocol/data.ts';
import type { CheckpointChoice } from '../protocol/going-on.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import { finalStates, type RunRecord } from '../protocol/runs.ts';
import { readWeightsOf, type CheckpointStore } from './checkpoints.ts';
import { foldsOf, standsAsFold } from './cross-validation.ts';
import type { StoreService } from '../protocol/store.ts';

/** What reading a model takes. */
export type ModelStore = Pick<StoreService, 'readFile' | 'run' | 'runs'>;

export interface ModelFiles {
  readonly model: string;
  readonly preprocessing: string;
  readonly weights: Uint8Array;
}

/** Why a run has no model of its own: `input.folds` or `run.no_model`. */
export function noModel({ id, config }: Pick<RunRecord, 'id' | 'config'>): TrainyardError {
  if (isCrossValidation(config)) {
    return new InputError(
      'input.folds',
      `Run ${id} is a cross-validation, the mean of the models of its folds: it has none of its own.`,
      'Take the run of one of its folds.',
    );
  }
  return new TrainyardError('run.no_model', `Run ${id} has no trained model yet.`, 'Train it to its end first.');
}

/**
 * Reads them. Throws TrainyardError `run.no_model` when the run has not kept a model yet, `run.file_gone` and
 * `run.damaged_file`.
 */
export async function readModelFiles(store: ModelStore, run: number): Promise<ModelFiles> {
  const kept = await keptFiles(store, run);
  if (kept) return kept;
  const record = await store.run({ run });
  if (isCrossValidation(record.config)) return filesOfFolds(store, record);
  throw noModel(record);
}

/** Null where one of them is not there. */
async function keptFiles(store: Pick<StoreService, 'readFile'>, run: number): Promise<ModelFiles | null> {
  const weights = await store.readFile({ run, file: 'best.safetensors' });
  const model = await store.readFile({ run, file: 'model.json' });
  const preprocessing = await store.readFile({ run, file: 'preprocessing.json' });
  if (!weights || !model || !preprocessing) return null;
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { model: text(model), preprocessing: text(preprocessing), weights };
}

/** The folds of a cross-validation that stand, by their numbers; those of one in the trash are there too. */
export async function standingFolds(
  store: Pick<StoreService, 'runs'>,
  { id, deletedAt }: Pick<RunRecord, 'id' | 'deletedAt'>,
): Promise<readonly (readonly [number, RunRecord])[]> {
  const folds = await foldsOf(store, id, { deleted: deletedAt !== null });
  return [...folds].filter(([, fold]) => standsAsFold(fold)).sort(([one], [other]) => one - other);
}

/** Of all folds that stand. Throws `run.no_model` while it trains and where none does. */
async function filesOfFolds(store: ModelStore, record: RunRecord): Promise<ModelFiles> {
  const { id, state, config } = record;
  const folds: FoldFiles[] = [];
  for (const [fold, { id: run }] of finalStates.has(state) ? await standingFolds(store, record) : []) {
    const files = await keptFiles(store, run);
    if (files === null) {
      throw new TrainyardError(
        'run.no_model',
        `Fold ${fold} of run ${id} has kept no model.`,
        `Its files in the folder of run ${run} are gone: train the cross-validation again.`,
      );
    }
    const { model, preprocessing, weights } = files;
    folds.push({
      fold,
      model: parseRunJson(model, run, 'model.json') as object,
      preprocessing: parseRunJson(preprocessing, run, 'preprocessing.json') as object,
      weights,
    });
  }
  if (folds.length > 0) return ensembleOfFolds(folds, config);
  throw new TrainyardError(
    'run.no_model',
    `Run ${id} is a cross-validation, and predicts as the mean of its folds: none of them stands yet.`,
    'Train it to its end first.',
  );
}

/** The same with the weights of another state that the run has kept. Throws `run.no_start` where it has not. */
export async function readModelFilesOf(
  store: CheckpointStore & ModelStore,
  run: number,
  checkpoint: CheckpointChoice = 'best',
): Promise<ModelFiles> {
  const files = await readModelFiles(store, run);
  if (checkpoint === 'best') return files;
  if (isCrossValidation((await store.run({ run })).config)) {
    throw new InputError(
      'input.folds',
      `Run ${run} is a cross-validation: it predicts by the best weights of its folds and has kept no others.`,
      'Ask the run of a fold.',
    );
  }
  return { ...files, weights: (await readWeightsOf(store, run, checkpoint)) ?? files.weights };
}

/** The preprocessing of a run as the rows of a file are read by it for its model, in the form it learned from or as columns as they are. */
export function fileRecipe(
  { model, preprocessing }: Pick<ModelFiles, 'model' | 'preprocessing'>,
  run: number,
  form: 'its own' | 'columns' = 'its own',
): object {
  const file = parseRunJson(model, run, 'model.json') as object;
  const kept = parseRunJson(preprocessing, run, 'preprocessing.json') as object;
  return form === 'columns' ? asColumns(file, kept) : withReadings(file, kept);
}

/** What has to be said to whoever uses them. */
export async function modelFileWarnings(
  store: Pick<StoreService, 'run' | 'runs' | 'isChecked'>,
  run: number,
): Promise<readonly DataWarning[]> {
  const record = await store.run({ run });
  const { folds: of } = record.config;
  if (of !== undefined) {
    const standing = await standingFolds(store, record);
    const own = await Promise.all(standing.map(([, { id }]) => modelFileWarnings(store, id)));
    const missing = `${standing.length} of ${of} folds stand: run ${run} predicts as the mean of their models.`;
    return [...(standing.length < of ? [{ code: 'missing_folds', message: missing }] : []), ...own.flat()];
  }
  if (await store.isChecked({ run })) return [];
  const message = `The list of checksums of run ${run}, runs/${run}/checksums.json, is gone or damaged: whether its files are what was written cannot be told.`;
  return [{ code: 'unchecked_files', message }];
}
