// Explaining a run, up to the work itself: its rows are prepared as columns as they are, whatever form it learned from, and its files
// are read. The window and the command line both come this way.

import type { DataService, DataWarning } from '../protocol/data.ts';
import type { EvaluatedSplit } from '../protocol/evaluated-rows.ts';
import { InputError } from '../protocol/errors.ts';
import type { ExplainRequest, TableRequest } from '../protocol/explanation.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import type { StoreService } from '../protocol/store.ts';
import { countOpening, prepareColumns } from './evaluate.ts';
import { readTrained } from '../learners/predict.ts';
import { fileRecipe, modelFileWarnings, readModelFiles } from './model-files.ts';

/**
 * A look at the test split is counted as those of an evaluation are. The caller releases `request.data`. Throws InputError
 * `input.pictures` for a run on pictures.
 */
export async function prepareExplanation(
  parts: { readonly store: StoreService; readonly data: Pick<DataService, 'prepare' | 'transform' | 'release'> },
  { job, run, split }: { readonly job: string; readonly run: number; readonly split: EvaluatedSplit },
): Promise<{ readonly request: ExplainRequest; readonly warnings: readonly DataWarning[] }> {
  const { store } = parts;
  const { model, weights, preprocessing } = await readModelFiles(store, run);
  const kept = parseRunJson(preprocessing, run, 'preprocessing.json');
  const data = await prepareColumns(parts, { job, run, split });
  if (data === null) throw ofPictures(run);
  await countOpening(store, run, { split });
  const request = { job, run, model, weights, preprocessing: kept, data, split };
  return { request, warnings: await modelFileWarnings(store, run) };
}

/**
 * All rows of a file, kept for what is found of each. Of trees the run's own rows are not needed: `request.data` is null. The caller
 * releases `request.file` and `request.data`. Throws InputError `input.pictures`.
 */
export async function prepareTable(
  parts: { readonly store: StoreService; readonly data: Pick<DataService, 'prepare' | 'transform' | 'release'> },
  asked: {
    readonly job: string;
    readonly run: number;
    readonly split: EvaluatedSplit;
    readonly path: string;
    readonly force: boolean;
  },
): Promise<{ readonly request: TableRequest; readonly warnings: readonly DataWarning[] }> {
  const { job, run, split, path, force } = asked;
  const { store, data } = parts;
  const files = await readModelFiles(store, run);
  const { model, weights } = files;
  const kept = parseRunJson(files.preprocessing, run, 'preprocessing.json') as object;
  if ('kind' in kept) throw ofPictures(run);
  const asTheyAre = fileRecipe(files, run, 'columns');
  const file = await data.transform({ job, path, preprocessing: asTheyAre, force, match: {}, keep: true });
  try {
    const own = readTrained(model, weights, run).trees ? null : await prepareColumns(parts, asked);
    if (own) await countOpening(store, run, { split });
    const request = { job, run, model, weights, preprocessing: kept, data: own, split, file };
    return { request, warnings: [...(await modelFileWarnings(store, run)), ...file.warnings] };
  } catch (error) {
    await data.release({ handle: file.handle });
    throw error;
  }
}

function ofPictures(run: number): InputError {
  return new InputError(
    'input.pictures',
    `Run ${run} learned from pictures: they have no columns to explain it by.`,
    `Show it pictures: trainyard explain ${run} picture.png --out maps tells where it looked.`,
  );
}
