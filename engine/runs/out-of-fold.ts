// The rows of a cross-validation, each predicted by the model of the fold that did not learn from it: the folds are prepared and predicted
// one after the other, so that the rows of one of them are held at a time. The window and the command line both come this way.

import type { DataService, DataWarning, PreparedData } from '../protocol/data.ts';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import type { FoldTable, ScoredTable } from '../protocol/evaluated-rows.ts';
import type { EvaluatorService } from '../protocol/hosts.ts';
import { isCrossValidation, missingFolds } from '../protocol/folds.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { foldsOf, standsAsFold } from './cross-validation.ts';
import { prepareEvaluation } from './evaluate.ts';

export interface OutOfFoldParts {
  readonly store: StoreService;
  readonly data: Pick<DataService, 'prepare' | 'transform' | 'release'>;
  readonly evaluator: Pick<EvaluatorService, 'table' | 'outOfFold'>;
}

export interface OutOfFold {
  readonly table: ScoredTable;
  readonly warnings: readonly DataWarning[];
}

/** Throws `input.no_folds` for a run that has none, `run.no_fold` where none stands. */
export async function evaluateOutOfFold(
  { store, data, evaluator }: OutOfFoldParts,
  { job, run }: { readonly job: string; readonly run: number },
): Promise<OutOfFold> {
  const record = await store.run({ run });
  const parts: FoldTable[] = [];
  const warnings = new Map<string, DataWarning>();
  let pictures = false;
  for (const [fold, { id }] of await standingFolds(store, record)) {
    const prepared = await prepareEvaluation({ store, data }, { job, run: id, source: { split: 'test' } });
    const { request } = prepared;
    try {
      parts.push({ fold, table: await evaluator.table(request) });
      prepared.warnings.forEach((warning) => warnings.set(warning.message, warning));
      pictures ||= request.data.input.kind === 'image';
    } finally {
      await data.release({ handle: request.data.handle });
    }
  }
  const whole = pictures ? null : await prepareWhole(data, record, job);
  try {
    const table = await evaluator.outOfFold({ parts, whole });
    return { table, warnings: [...warnings.values(), ...notAll(record), ...neverTested(record)] };
  } finally {
    if (whole) await data.release({ handle: whole.handle });
  }
}

/** All rows in one split, whatever tests them: their categories are of one dictionary. */
function prepareWhole(data: OutOfFoldParts['data'], { config }: RunRecord, job: string): Promise<PreparedData> {
  const { dataset, seed } = config;
  const settings = { ...config.settings, split: [1, 0, 0] as const };
  return data.prepare({ job, dataset, options: { settings, seed, forms: ['columns'] } });
}

async function standingFolds(
  store: StoreService,
  record: RunRecord,
): Promise<readonly (readonly [number, RunRecord])[]> {
  if (!isCrossValidation(record.config)) {
    throw new InputError(
      'input.no_folds',
      `Run ${record.id} is no cross-validation: it has no folds.`,
      'Evaluate a split of its data.',
    );
  }
  const standing = [...(await foldsOf(store, record.id))].filter(([, fold]) => standsAsFold(fold));
  if (standing.length > 0) return standing.sort(([one], [other]) => one - other);
  throw new TrainyardError('run.no_fold', `No fold of run ${record.id} stands yet.`, 'Train it to its end first.');
}

function notAll({ result }: RunRecord): readonly DataWarning[] {
  const message = result?.folds ? missingFolds(result.folds) : null;
  return message === null
    ? []
    : [{ code: 'missing_folds', message: `${message} The rows of the others are left out.` }];
}

function neverTested({ config }: RunRecord): readonly DataWarning[] {
  const { splitBy } = config.settings;
  if (splitBy?.kind !== 'time') return [];
  const message = `Folds in the order of ${splitBy.column} test what comes after: the earliest rows, 1 part in ${(config.folds ?? 1) + 1}, only train.`;
  return [{ code: 'never_tested', message }];
}
