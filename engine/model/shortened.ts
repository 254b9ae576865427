// A model as it is for rows whose text has fewer tokens: the same parameters and states, shorter sequences. Tables with a row for each
// position are read from the front.

import type { ParameterDef, StateDef } from './layer.ts';
import type { ResolvedLayer, ResolvedModel } from './resolve.ts';

/** The model reading `length` tokens of its only text. */
export function shortenedModel(model: ResolvedModel, length: number): ResolvedModel {
  const { input } = model;
  if (input.kind !== 'table' || input.texts?.length !== 1) throw new TypeError('only a single text is shortened');
  const layers: ResolvedLayer[] = [];
  for (const layer of model.layers) {
    const { def, args, inputs } = layer;
    const inputShapes = inputs.map((from) => (from < 0 ? model.inputShape : layers[from].outputShape));
    const around = { ...layer.around, texts: layer.around.texts.map((text) => ({ ...text, length })) };
    const read: readonly (ParameterDef | StateDef)[] = [
      ...(def.parameters?.(inputShapes, args, around) ?? []),
      ...(def.states?.(inputShapes, args) ?? []),
    ];
    const fronts = new Map(read.map(({ name, shape }) => [name, shape[0]]));
    layers.push({ ...layer, around, inputShapes, outputShape: def.shape(inputShapes, args, around), fronts });
  }
  return { ...model, input: { ...input, texts: [{ ...input.texts[0], length }] }, layers };
}
