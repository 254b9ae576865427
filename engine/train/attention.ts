// Where a net looked: class-activation maps (Zhou et al. 2016). Where a net ends in a global average pool and the output
// layer, the score of class k is the mean over the image of M(r, c) = Σ w[i,k]·f[i](r, c): the last feature maps f weighed by
// the output layer's weights. So M says how much each place speaks for the class.

import type { Backend } from '../backends/backend.ts';
import { outputWidth, resolveModel, tryResolve, type ResolvedModel } from '../model/resolve.ts';
import type { ActivationMaps } from '../protocol/evaluation.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { TrainedNetwork } from './predict.ts';
import type { ReadShard } from './resident-rows.ts';
import { Session } from './session.ts';
import { weightNames, writeWeights } from './weights.ts';

/** A model cut off before its global average pool. */
interface CutModel {
  /** Its output is the last feature maps, [channels·height·width] a row. */
  readonly features: ResolvedModel;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  /** Name of the output layer's weight [channels, outputs]. */
  readonly weight: string;
}

/** Null where the model does not end in a global average pool and the output layer; dropout between them is nothing. */
export function cutBeforePool({ model, training, input, output }: Omit<TrainedNetwork, 'weights'>): CutModel | null {
  const { layers, outputs } = resolveModel(model, input, outputWidth(output, training.loss));
  const last = layers[layers.length - 1];
  let before = layers[last.inputs[0]];
  while (before?.def.type === 'dropout') before = layers[before.inputs[0]];
  if (before?.def.type !== 'global_average_pool' || before.inputs[0] < 0) return null;
  const maps = layers[before.inputs[0]];
  const spec = { ...model, layers: [...model.layers.slice(0, maps.index + 1), { type: 'flatten' }] };
  const [channels, height, width] = maps.outputShape;
  const { resolved } = tryResolve(spec, input, outputs);
  return {
    features: { ...resolved, outputs: channels * height * width },
    channels,
    height,
    width,
    weight: `${last.id}.weight`,
  };
}

/**
 * Maps of the class `chosen` of each row, between 0 and 1 of the strongest evidence for it in that picture; evidence against
 * it is 0. Null for models that do not tell (see `cutBeforePool`).
 */
export async function activationMaps(
  trained: TrainedNetwork,
  backend: Backend,
  data: PreparedData,
  readShard: ReadShard,
  dataBudget: number,
  chosen: readonly number[],
): Promise<ActivationMaps | null> {
  const cut = cutBeforePool(trained);
  if (cut === null) return null;
  const { model, training } = trained;
  const options = { backend, model, training, data, readShard, dataBudget, predictOnly: true };
  const session = await Session.open({ ...options, resolved: cut.features });
  try {
    writeWeights(session.executable, session.plan, weightNames(cut.features), trained.weights);
    const features = await session.predict({ start: 0, end: chosen.length });
    return weighMaps(features, trained.weights[cut.weight].data, cut, chosen);
  } finally {
    session.close();
  }
}

function weighMaps(
  features: Float32Array,
  weight: Float32Array,
  { channels, height, width }: CutModel,
  chosen: readonly number[],
): ActivationMaps {
  const size = height * width;
  const outputs = weight.length / channels;
  const values = new Float32Array(chosen.length * size);
  chosen.forEach((k, row) => {
    const map = values.subarray(row * size, (row + 1) * size);
    for (let channel = 0; channel < channels; channel++) {
      // One output stands for the second of two classes, and its opposite for the first.
      const w = outputs === 1 ? (k === 1 ? 1 : -1) * weight[channel] : weight[channel * outputs + k];
      const start = (row * channels + channel) * size;
      for (let place = 0; place < size; place++) map[place] += w * features[start + place];
    }
    const strongest = Math.max(...map);
    for (let place = 0; place < size; place++) map[place] = strongest > 0 ? Math.max(0, map[place] / strongest) : 0;
  });
  return { width, height, values };
}
