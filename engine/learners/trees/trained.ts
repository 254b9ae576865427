// Trees put to use: rows go to the bins of the training rows, and each tree adds its leaf.

import type { EvaluationSpec } from '../../train/metrics.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { RawOutputs, Rows, Trained } from '../learner.ts';
import { binnerOf } from './bins.ts';
import type { GrownTrees } from './explained.ts';
import { addEverywhere } from './predictor.ts';
import { walkOf, type Walk } from './tree.ts';

/** `first` [outputs]: what the scores of a row begin with. */
export interface TrainedTrees extends GrownTrees {
  /** Scores [rows, outputs] as raw outputs. */
  readonly raw: (scores: Float64Array) => Float32Array;
}

export function trainedTrees(file: ModelFile, evaluation: EvaluationSpec, trained: TrainedTrees): Trained {
  const walks = trained.trees.map((tree) => walkOf(tree, trained.columns));
  return { file, evaluation, outputs: (rows) => predict(rows, trained, walks), trees: trained };
}

/** Shard by shard: there may be more rows than memory. */
async function predict(
  { data, readShard, backend }: Rows,
  { columns, trees, first, raw }: TrainedTrees,
  walks: readonly Walk[],
): Promise<RawOutputs> {
  const { shardStarts } = data;
  const rows = shardStarts[shardStarts.length - 1];
  const K = first.length;
  const width = columns.length;
  const binners = columns.map(binnerOf);
  const outputs = new Float32Array(rows * K);
  const targets = new Float32Array(rows);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const start = shardStarts[shard];
    const count = shardStarts[shard + 1] - start;
    const { x, y } = await readShard(shard);
    const bins = new Uint8Array(count * width);
    binners.forEach((binner, at) => binner(x as ArrayLike<number>, count, width, at, bins, 0));
    const scores = new Float64Array(count * K);
    for (let i = 0; i < scores.length; i++) scores[i] = first[i % K];
    const work = addEverywhere(backend, scores, K, trees, columns, { bins, width }, walks);
    while (!(await work.next()).done) continue;
    outputs.set(raw(scores), start * K);
    targets.set(y.subarray(0, count), start);
  }
  return { outputs, targets };
}
