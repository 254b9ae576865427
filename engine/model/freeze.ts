// Layers that keep the weights they have: their parameters become states of the model, which no gradient and no optimizer knows,
// and they work as they do in prediction, so that the statistics of a batch norm stay and a dropout lets everything through.

import { ModelError } from './errors.ts';
import type { ParameterDef, StateDef } from './layer.ts';
import type { ResolvedModel } from './resolve.ts';
import type { LayerSpec } from './spec.ts';

/** The model with its first `count` layers, and the tables of its input, frozen. Throws ModelError if nothing would be trained. */
export function frozenModel(model: ResolvedModel, count: number): ResolvedModel {
  if (count === 0) return model;
  const layers = model.layers.map((layer) =>
    layer.index < count
      ? { ...layer, frozen: true, parameters: [], states: [...layer.parameters.map(asState), ...layer.states] }
      : layer,
  );
  const parameters = layers.flatMap((layer) => layer.parameters);
  if (parameters.length === 0) {
    throw new ModelError(
      `All ${model.layers.length} layers are frozen, or those that are not have no weights: there is nothing to train.`,
      'Freeze fewer of them.',
    );
  }
  const states = [...model.inputParameters.map(asState), ...layers.flatMap((layer) => layer.states)];
  return { ...model, layers, parameters, states };
}

const asState = ({ name, shape, type }: ParameterDef): StateDef => ({ name, shape, type, initial: 0 });

/** Layers before the head: that is the output, and those named for it (`head.…`). */
export function bodyOf(layers: readonly LayerSpec[]): number {
  const head = layers.findIndex(({ type, id }) => type === 'output' || id?.startsWith('head.') === true);
  return head < 0 ? layers.length : head;
}
