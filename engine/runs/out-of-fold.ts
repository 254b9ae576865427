// The rows of a cross-validation, each predicted by the model of the fold that did not learn from it: the folds are prepared and predicted
// one after the other, so that the rows of one of them are held at a time. The window and the command line both come this way.

import type { DataService, DataWarning } from '../protocol/data.ts';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import type { FoldsShare, FoldTable, ScoredTable } from '../protocol/evaluated-rows.ts';
import type { EvaluatorService } from '../protocol/hosts.ts';
import { isCrossValidation, missingFolds } from '../protocol/folds.ts';
import type { FoldResult, RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { foldsOf, resultOf, standsAsFold } from './cross-validation.ts';
import { prepareEvaluation } from './evaluate.ts';
import { prepareWhole } from './whole-rows.ts';

export interface OutOfFoldParts {
  readonly store: StoreService;
  readonly data: Pick<DataService, 'prepare' | 'transform' | 'release'>;
  readonly evaluator: Pick<EvaluatorService, 'table' | 'outOfFold'>;
}

export interface OutOfFold {
  readonly table: ScoredTable;
  readonly share: FoldsShare;
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
  const { standing, folds } = await foldsNow(store, record);
  if (standing.length === 0) throw noneStands(record, folds);
  for (const [fold, { id }] of standing) {
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
    const rows = table.rows.truth.length + table.untold;
    const { train, validation, test } = record.data?.counts ?? { train: 0, validation: 0, test: rows };
    const ofRows = whole ? whole.counts.train : train + validation + test;
    const share = { folds: parts.length, ofFolds: record.config.folds ?? 1, ofRows };
    return { table, share, warnings: [...warnings.values(), ...notAll(folds, share, rows), ...neverTested(record)] };
  } finally {
    if (whole) await data.release({ handle: whole.handle });
  }
}

export interface FoldsNow {
  readonly standing: readonly (readonly [number, RunRecord])[];
  readonly folds: readonly FoldResult[];
}

/** The folds as they are now, whatever the run noted when it ended: one may have come to the trash or been removed since. Throws `input.no_folds`. */
export async function foldsNow(store: StoreService, record: RunRecord): Promise<FoldsNow> {
  if (!isCrossValidation(record.config)) {
    throw new InputError(
      'input.no_folds',
      `Run ${record.id} is no cross-validation: it has no folds.`,
      'Evaluate a split of its data.',
    );
  }
  const { folds: of = 1 } = record.config;
  const known = await foldsOf(store, record.id);
  const trash = await foldsOf(store, record.id, { deleted: true });
  const noted = new Set(record.result?.folds?.folds.map(({ fold }) => fold));
  const folds: FoldResult[] = [];
  for (let fold = 1; fold <= of; fold++) {
    const run = known.get(fold);
    const trashed = trash.get(fold);
    if (run) folds.push(resultOf(fold, run));
    else if (trashed) folds.push({ ...resultOf(fold, trashed), problem: 'it is in the trash' });
    else if (noted.has(fold)) folds.push({ fold, state: 'failed', metrics: {}, problem: 'its run is gone' });
  }
  const standing = [...known].filter(([, fold]) => standsAsFold(fold)).sort(([one], [other]) => one - other);
  return { standing, folds };
}

function noneStands({ id, config }: RunRecord, folds: readonly FoldResult[]): TrainyardError {
  const why = missingFolds({ of: config.folds ?? 1, folds });
  return new TrainyardError('run.no_fold', `No fold of run ${id} stands: ${why}`, 'Train it to its end first.');
}

function notAll(
  folds: readonly FoldResult[],
  { ofFolds: of, ofRows }: FoldsShare,
  rows: number,
): readonly DataWarning[] {
  const missing = missingFolds({ of, folds });
  if (missing === null) return [];
  const message = `${missing} The rows of the others are left out: ${rows} of ${ofRows} are here.`;
  return [{ code: 'missing_folds', message }];
}

function neverTested({ config }: RunRecord): readonly DataWarning[] {
  const { splitBy } = config.settings;
  if (splitBy?.kind !== 'time') return [];
  const message = `Folds in the order of ${splitBy.column} test what comes after: the earliest rows, 1 part in ${(config.folds ?? 1) + 1}, only train.`;
  return [{ code: 'never_tested', message }];
}
