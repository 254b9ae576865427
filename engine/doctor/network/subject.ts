// The network that is examined: its settings, its layers as they are judged, and the rows. Layers are judged where what they give
// settles: behind the batch norm and the activation that follow a product.

import type { Backend } from '../../backends/backend.ts';
import type { NetworkConfig } from '../../learners/network/declaration.ts';
import { outputWidth, resolveModel, type ResolvedLayer, type ResolvedModel } from '../../model/resolve.ts';
import type { TrainingSpec } from '../../model/spec.ts';
import type { PreparedData } from '../../protocol/data.ts';
import { classWeights } from '../../train/session-sizes.ts';
import type { SampledRows } from '../check.ts';

export interface Subject {
  readonly config: NetworkConfig;
  readonly backend: Backend;
  readonly model: ResolvedModel;
  /** The dataset the run would have. */
  readonly data: PreparedData;
  readonly sample: SampledRows;
}

/** A layer with weights, and where what it gives settles. */
export interface JudgedLayer {
  readonly name: string;
  /** Its own position, and that of the layer behind which it is judged. */
  readonly position: number;
  readonly settled: number;
  /** Name of its weights. */
  readonly weight: string;
  readonly activation: string;
}

export const trainingOf = ({ training, seed }: NetworkConfig): TrainingSpec => ({ ...training, seed });

export function modelOf({ model, training }: NetworkConfig, { input, output }: PreparedData): ResolvedModel {
  return resolveModel(model, input, outputWidth(output, training.loss));
}

export function weightsOfClasses({ config, data, model }: Pick<Subject, 'config' | 'data' | 'model'>) {
  return classWeights(config.training, data.classCounts, model.outputs);
}

/** All layers with products, in order. */
export function judgedLayers(model: ResolvedModel): readonly JudgedLayer[] {
  const weighted = model.layers.filter((layer) => !layer.frozen && weightOf(layer) !== undefined);
  return weighted.map((layer, place) => {
    const { settled, activation } = settle(model, layer);
    return {
      name: `${layer.def.title} ${place + 1}`,
      position: layer.index,
      settled,
      weight: weightOf(layer)!,
      activation,
    };
  });
}

const weightOf = ({ parameters }: ResolvedLayer): string | undefined =>
  parameters.find(({ shape, decay }) => decay && shape.length >= 2)?.name;

function settle(model: ResolvedModel, layer: ResolvedLayer): { readonly settled: number; readonly activation: string } {
  let activation = String(layer.args['activation'] ?? 'none');
  let at = layer.index;
  for (;;) {
    const followers = model.layers.filter(({ inputs }) => inputs.includes(at));
    const [next] = followers;
    const goesOn =
      followers.length === 1 && activation === 'none' && /^(normalisation|activation)$/.test(next.def.group);
    if (!goesOn) return { settled: at, activation };
    at = next.index;
    if (next.def.group === 'activation') activation = String(next.args['activation'] ?? 'none');
  }
}
