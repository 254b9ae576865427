// Layer-wise learning rates (Howard & Ruder 2018, "Universal language model fine-tuning"): layers that begin with the weights of another
// model learn the slower the further they are from the output, since what the first ones know serves any task.

import type { ResolvedModel } from './resolve.ts';

/** The block that a layer belongs to: `s1b1` of `s1b1.2.conv`. */
const blockOf = (id: string): string => id.split('.')[0];

/**
 * The model with the rates of its parameters times `decay` to the power of their block's distance from the last one. A block are
 * layers in a row with weights whose ids begin alike; the tables of the input are furthest.
 */
export function withLayerRates(model: ResolvedModel, decay: number): ResolvedModel {
  if (decay === 1) return model;
  const blocks: string[] = [];
  const places = model.layers.map(({ id, parameters }) => {
    if (parameters.length > 0 && blockOf(id) !== blocks.at(-1)) blocks.push(blockOf(id));
    return blocks.length;
  });
  const slowed = <T extends { readonly rate?: number }>(parameters: readonly T[], place: number): readonly T[] =>
    parameters.map((parameter) => ({ ...parameter, rate: (parameter.rate ?? 1) * decay ** (blocks.length - place) }));
  const layers = model.layers.map((layer, i) => ({ ...layer, parameters: slowed(layer.parameters, places[i]) }));
  const inputParameters = slowed(model.inputParameters, 0);
  // Those of a frozen input are among the states.
  const input = model.parameters.filter(({ name }) => inputParameters.some((own) => own.name === name));
  const trained = input.length > 0 ? inputParameters : [];
  return {
    ...model,
    inputParameters,
    layers,
    parameters: [...trained, ...layers.flatMap((layer) => layer.parameters)],
  };
}
