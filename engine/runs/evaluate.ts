// Evaluating a run, up to the work itself: the rows are prepared as for its training (or read from another file as it was trained), its files
// are read, and each look at the test split is counted. The window and the command line both come this way.

import { rowsAsTheyAre } from '../learners/declared/prepared.ts';
import { declarationOf } from '../learners/declared/registry.ts';
import { noFolds } from '../learners/evaluated-rows.ts';
import { readModelFile, refuseWriter } from '../learners/model-file.ts';
import type { DataService, DataWarning, PreparedData, SplitName } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import type { EvaluatedSplit, Openings } from '../protocol/evaluated-rows.ts';
import type { RunEvaluation } from '../protocol/evaluation.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import type { TableRequest } from '../protocol/hosts.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import type { RunConfig, RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { divisionOf } from '../protocol/division.ts';
import { unlessDatasetGone } from './dataset-gone.ts';
import { fileRecipe, modelFileWarnings, readModelFiles, standingFolds } from './model-files.ts';
import { prepareWholeInFolds } from './whole-rows.ts';

/** A split of the run's dataset, those of its training rows that its folds did not learn from, or the rows of another file. */
export type EvaluationSource = { readonly split: EvaluatedSplit } | { readonly path: string; readonly force?: boolean };

interface Parts {
  readonly store: StoreService;
  readonly data: Pick<DataService, 'prepare' | 'transform' | 'release'>;
}

export interface PreparedEvaluation {
  readonly request: TableRequest;
  readonly warnings: readonly DataWarning[];
}

/**
 * Tables are prepared once, as columns as they are: the host makes of them what the model learned from. `splits`: those whose rows are
 * wanted, beside that of `source`. `job` names the work for progress and cancel. The caller releases `request.data`.
 */
export async function prepareEvaluation(
  { store, data }: Parts,
  {
    splits = [],
    ...asked
  }: {
    readonly job: string;
    readonly run: number;
    readonly source: EvaluationSource;
    readonly splits?: readonly SplitName[];
  },
): Promise<PreparedEvaluation> {
  const { run, source } = asked;
  const record = await store.run({ run });
  const files = await readModelFiles(store, run);
  const { model, weights } = files;
  refuseWriter(readModelFile(model, run), run);
  const baseline = await store.readFile({ run, file: 'baseline.safetensors' }).catch(() => null);
  const warnings = await modelFileWarnings(store, run);
  const kept = parseRunJson(files.preprocessing, run, 'preprocessing.json') as object;
  const split = 'split' in source ? source.split : 'test';
  const outOfFold = split === 'out of fold';
  if ('split' in source && isCrossValidation(record.config)) throw onlyOutOfFold(run);
  const division = await divisionOf(store, record);
  const parts = outOfFold ? partsOf(record, division) : undefined;
  const wanted = outOfFold ? (['train'] as const) : [split, ...splits];
  const prepared = await ('path' in source
    ? data.transform({ ...source, job: asked.job, preprocessing: fileRecipe(files, run, 'columns') })
    : prepareRows(data, { ...record, config: division }, { job: asked.job, splits: wanted, parts }));
  const classCounts = 'split' in source ? prepared.classCounts : await trainingClasses(store, record);
  return {
    request: { run, model, weights, preprocessing: kept, baseline, classCounts, data: prepared, split },
    warnings: [...warnings, ...('split' in source ? [] : prepared.warnings)],
  };
}

/** The parts that its training rows were cut into, which validated in turn. Throws `input.no_folds`. */
function partsOf({ id }: RunRecord, division: RunConfig): number {
  const parts = declarationOf(division).parts?.(division);
  if (parts === undefined) throw noFolds(id);
  return parts;
}

/**
 * The rows of all splits as columns as they are, or of the training rows those that folds did not learn from, with their parts; null for
 * pictures. The caller releases them. Throws InputError `input.folds` for a split of a cross-validation, `input.no_folds`.
 */
export async function prepareColumns(
  { store, data }: Parts,
  { job, run, split }: { readonly job: string; readonly run: number; readonly split: EvaluatedSplit },
): Promise<PreparedData | null> {
  const record = await store.run({ run });
  const { preprocessing } = await readModelFiles(store, run);
  const kept = parseRunJson(preprocessing, run, 'preprocessing.json') as object;
  if ('kind' in kept) return null;
  const outOfFold = split === 'out of fold';
  if (isCrossValidation(record.config)) {
    if (!outOfFold) throw onlyOutOfFold(run);
    const standing = await standingFolds(store, record);
    return unlessDatasetGone(record, prepareWholeInFolds(data, record, standing, job), orOthers);
  }
  const config = await divisionOf(store, record);
  const parts = outOfFold ? partsOf(record, config) : undefined;
  return prepareRows(data, { ...record, config }, { job, parts });
}

/** What can be done where the rows of a run are gone. */
const orOthers = 'Or evaluate another file.';

/** Of a split of a cross-validation: each fold has others. */
export const onlyOutOfFold = (run: number): InputError =>
  new InputError(
    'input.folds',
    `Run ${run} is a cross-validation: its folds divide the rows in as many ways, and it is looked at on all of them, out of fold.`,
    'Leave the split out, or look at the run of one fold.',
  );

/** Of a dataset as for its training: the same settings, the same seed, the same splits. `config`: its division. */
async function prepareRows(
  data: Parts['data'],
  { id, config, datasetName }: RunRecord,
  { job, splits, parts }: { readonly job: string; readonly splits?: readonly SplitName[]; readonly parts?: number },
): Promise<PreparedData> {
  const { dataset } = config;
  const options = { ...rowsAsTheyAre(config), splits, parts };
  return unlessDatasetGone({ id, config, datasetName }, data.prepare({ job, dataset, options }), orOthers);
}

/** Rows of each class the run was trained on, as its own evaluation counted them; of a cross-validation those of all its folds. */
async function trainingClasses(store: StoreService, record: RunRecord): Promise<readonly number[]> {
  if (!isCrossValidation(record.config)) return ownTrainingClasses(store, record.id);
  const folds = await standingFolds(store, record);
  const counts = await Promise.all(folds.map(([, { id }]) => ownTrainingClasses(store, id)));
  return counts[0].map((_, k) => counts.reduce((sum, own) => sum + own[k], 0));
}

async function ownTrainingClasses(store: StoreService, run: number): Promise<readonly number[]> {
  const bytes = await store.readFile({ run, file: 'evaluation.json' });
  if (bytes === null) return [];
  const evaluation = parseRunJson(new TextDecoder().decode(bytes), run, 'evaluation.json') as RunEvaluation;
  return evaluation.splits.train?.classes?.map(({ rows }) => rows) ?? [];
}

const openingsKey = (run: number): string => `evaluation.opened.${run}`;

/** How often the test split of a run was looked at. */
export async function openingsOf(store: StoreService, run: number): Promise<Openings> {
  return ((await store.getSetting({ key: openingsKey(run) })) as Openings | null) ?? { count: 0, last: null };
}

/** Counts another look, if it is one at the test split; returns how often it was before. */
export async function countOpening(store: StoreService, run: number, source: EvaluationSource): Promise<Openings> {
  const before = await openingsOf(store, run);
  if ('split' in source && source.split === 'test') {
    await store.setSetting({ key: openingsKey(run), value: { count: before.count + 1, last: Date.now() } });
  }
  return before;
}
