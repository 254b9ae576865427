// What is said where the rows of a run are asked for and its dataset was removed.

import { TrainyardError } from '../protocol/errors.ts';
import { isPretrained } from '../protocol/pretrained.ts';
import type { RunRecord } from '../protocol/runs.ts';

/** @throws TrainyardError `run.dataset_gone` where preparing finds no dataset. `instead`: what can be done without it. */
export async function unlessDatasetGone<T>(
  { id, config, datasetName }: Pick<RunRecord, 'id' | 'config' | 'datasetName'>,
  preparing: Promise<T>,
  instead = '',
): Promise<T> {
  try {
    return await preparing;
  } catch (error) {
    if (!(error instanceof TrainyardError) || error.code !== 'input.unknown_dataset') throw error;
    if (isPretrained(config)) {
      throw new TrainyardError(
        'run.dataset_gone',
        `Run ${id} is a model of others: the rows it learned from are not here.`,
        'Predict or evaluate a file of your own, or begin a run with it.',
      );
    }
    throw new TrainyardError(
      'run.dataset_gone',
      `The dataset ${datasetName} of run ${id} is not here any more.`,
      `Import its file again: the same content is the same dataset. ${instead}`.trim(),
    );
  }
}
