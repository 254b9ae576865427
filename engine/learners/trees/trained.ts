// Trees put to use: rows go to the bins of the training rows, and each tree adds its leaf.

import type { EvaluationSpec } from '../../train/metrics.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { RawOutputs, Rows, Trained } from '../learner.ts';
import { addTrees, finish, finishAsync } from './ensemble.ts';
import type { GrownTrees } from './explained.ts';
import { openPredictor, pays } from './predictor.ts';
import { largestShard } from './rows.ts';
import { hostBinner } from './table-device.ts';
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
  const outputs = new Float32Array(rows * K);
  const targets = new Float32Array(rows);
  const predictor = pays(trees, rows)
    ? await openPredictor(await backend(), trees, columns, K, largestShard(shardStarts))
    : null;
  const binner = hostBinner(columns);
  try {
    for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
      const start = shardStarts[shard];
      const count = shardStarts[shard + 1] - start;
      const { x, y } = await readShard(shard);
      const scores = new Float64Array(count * K);
      for (let i = 0; i < scores.length; i++) scores[i] = first[i % K];
      if (predictor) await finishAsync(predictor.addRows(x as ArrayLike<number>, scores));
      else {
        const bins = new Uint8Array(count * width);
        await finishAsync(binner.put(x as ArrayLike<number>, count, bins));
        finish(addTrees(scores, K, trees, columns, { bins, width }, 0, count, walks));
      }
      outputs.set(raw(scores), start * K);
      targets.set(y.subarray(0, count), start);
    }
  } finally {
    predictor?.close();
  }
  return { outputs, targets };
}
