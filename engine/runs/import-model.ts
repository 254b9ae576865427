// A model of others becomes a finished run: model, recipe and weights as any run keeps them. The same model read twice is the same run.

import { networkConfig } from '../learners/network/declaration.ts';
import {
  pretrainedDataset,
  pretrainedSentences,
  type AboutPretrained,
  type PretrainedRun,
} from '../protocol/pretrained.ts';
import type { RunRecord, RunResult } from '../protocol/runs.ts';
import type { NewRun, StoreService } from '../protocol/store.ts';
import { keepFinished, type FinishedStore } from './keep-finished.ts';

type Store = FinishedStore & Pick<StoreService, 'runs'>;

export interface ImportRequest {
  readonly store: Store;
  readonly pretrained: PretrainedRun;
  readonly owner: NewRun['owner'];
  /** Default: what it was read from. */
  readonly name?: string;
}

/** The run of it: a new one, or the one that it became before. */
export async function importModel(
  request: ImportRequest,
): Promise<{ readonly run: RunRecord; readonly again: boolean }> {
  const { store, pretrained, owner } = request;
  const { source, files, parameters } = pretrained;
  const { model, training, task } = pretrained.config;
  const dataset = pretrainedDataset(pretrained.digest);
  const known = await store.runs({ dataset, states: ['completed'], deleted: false, limit: 1 });
  if (known.runs.length > 0) return { run: known.runs[0], again: true };

  const config = networkConfig({ dataset, settings: { task }, device: 'auto', threads: 0 }, model, training);
  const name = request.name?.trim() || source.replace(/\.safetensors$/i, '');
  const run = await keepFinished(store, {
    run: { name, dataset, datasetName: source, config, owner },
    files,
    points: [],
    log: pretrainedSentences(pretrained),
    ended: { state: 'completed', device: 'cpu', threads: 1, parameters, result: resultOf(pretrained) },
  });
  return { run, again: false };
}

function resultOf({ title, source, head }: AboutPretrained): RunResult {
  return {
    reason: 'completed',
    device: 'cpu',
    threads: 1,
    ...{ epochs: 0, steps: 0, seconds: 0, examplesPerSecond: 0, bestEpoch: 0 },
    metrics: {},
    remark: `${title}, read from ${source}${head ? '' : ', without an output layer'}`,
  };
}
