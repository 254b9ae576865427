// Names of modules for PyTorch: ids of layers without the dots that would nest them, each still its own.

import type { ResolvedModel } from '../../model/resolve.ts';
import type { Weights } from '../../train/weights.ts';

/** Name of the module of each layer, by the layer's id. */
export function moduleNames({ layers }: ResolvedModel): ReadonlyMap<string, string> {
  const taken = new Set<string>(['input']);
  return new Map(
    layers.map(({ id }) => {
      let name = id.replaceAll('.', '_');
      while (taken.has(name)) name += '_';
      taken.add(name);
      return [id, name];
    }),
  );
}

/** Weights under the names of their modules: `s1b1.1.conv.weight` is `s1b1_1_conv.weight`. */
export function underModules(model: ResolvedModel, weights: Weights): Weights {
  const names = moduleNames(model);
  const renamed = new Map<string, string>();
  for (const { id, parameters, states } of model.layers) {
    for (const { name } of [...parameters, ...states]) renamed.set(name, names.get(id) + name.slice(id.length));
  }
  return Object.fromEntries(Object.entries(weights).map(([name, tensor]) => [renamed.get(name) ?? name, tensor]));
}
