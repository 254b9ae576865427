// What a session is made of before its batch is cut: the model as it is trained, and the buckets of its rows. Both may read the rows.

import { frozenModel } from '../model/freeze.ts';
import { withLayerRates } from '../model/layer-rates.ts';
import { outputWidth, resolveModel, type ResolvedModel } from '../model/resolve.ts';
import type { ModelSpec, TrainingSpec } from '../model/spec.ts';
import type { PreparedData } from '../protocol/data.ts';
import { bucketsOf, predictedBuckets, type Buckets } from './buckets.ts';
import { fittedModel } from './fitted-states.ts';
import type { ReadShard } from './resident-rows.ts';

/** What a session is opened with, the device apart. */
export interface SessionSource {
  readonly model: ModelSpec;
  readonly training: TrainingSpec;
  readonly data: PreparedData;
  readonly readShard: ReadShard;
  /** Leave out everything that only training needs. */
  readonly predictOnly?: boolean;
  /** Of `predictOnly`: its rows are those of `readShard` and no others, so they may be predicted by the lengths of their texts. */
  readonly byLength?: boolean;
  /** Predict with this instead of `model`: a part of it, to see inside. */
  readonly resolved?: ResolvedModel;
}

export interface SessionModels {
  readonly model: ResolvedModel;
  /** The same without anything frozen: what has first weights. */
  readonly whole: ResolvedModel;
  readonly buckets: Buckets | null;
  /** Of the rows that are predicted, where that is all that is done. */
  readonly predicted?: Buckets | null;
}

export async function sessionModels(options: SessionSource): Promise<SessionModels> {
  const { data, training, readShard, predictOnly = false } = options;
  const resolved = options.resolved ?? resolveModel(options.model, data.input, outputWidth(data.output, training.loss));
  if (predictOnly) {
    const predicted = options.byLength && (await predictedBuckets(resolved, data, readShard));
    return { model: resolved, whole: resolved, buckets: null, predicted: predicted || null };
  }
  const whole = await fittedModel(resolved, data, readShard);
  const model = withLayerRates(frozenModel(whole, training.frozenLayers ?? 0), training.layerDecay ?? 1);
  return { model, whole, buckets: await bucketsOf(model, data, training, readShard) };
}
