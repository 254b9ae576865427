// Which weights of another run a model can take, layer by layer, from the shapes alone: what training goes by when a run starts
// from another one, and what a person sees before it starts.

import type { Shape } from '../graph/graph.ts';
import { ownValue } from '../protocol/own.ts';
import type { ResolvedModel } from './resolve.ts';

export interface LayerFit {
  /** Place of the layer; −1 = the tables of embedded columns. */
  readonly layer: number;
  readonly title: string;
  /** Names of its tensors. */
  readonly tensors: readonly string[];
  readonly fit: 'taken' | 'new' | 'misfit';
  /** Keeps the weights it begins with. */
  readonly frozen: boolean;
  /** Of a layer that does not fit: the first tensor that has another shape; no `found`: there is none of that name. */
  readonly wrong?: { readonly name: string; readonly wanted: Shape; readonly found?: Shape };
}

/**
 * How the layers that have weights fit those of another run, from its first to its last. Layers from `upTo` on, and those that run
 * has nothing for, are new; the first `frozen` ones are frozen.
 */
export function weightsFit(
  model: ResolvedModel,
  shapes: Readonly<Record<string, Shape>>,
  { upTo = Infinity, frozen = 0 }: { readonly upTo?: number; readonly frozen?: number },
): readonly LayerFit[] {
  const layers = [
    { layer: -1, title: 'The embedded columns', all: model.inputParameters },
    ...model.layers.map(({ index, id, def, parameters, states }) => ({
      layer: index,
      title: `Layer ${index + 1}${id === String(index) ? '' : ` “${id}”`} (${def.title})`,
      all: [...parameters, ...states],
    })),
  ];
  return layers
    .filter(({ all }) => all.length > 0)
    .map(({ layer, title, all }) => {
      const about = { layer, title, tensors: all.map(({ name }) => name), frozen: layer < frozen };
      const foundFor = (name: string): Shape | undefined => ownValue(shapes, name);
      if (layer >= upTo || all.every(({ name }) => !foundFor(name))) return { ...about, fit: 'new' };
      const wrong = all.find(({ name, shape }) => foundFor(name)?.join() !== shape.join());
      if (!wrong) return { ...about, fit: 'taken' };
      return { ...about, fit: 'misfit', wrong: { name: wrong.name, wanted: wrong.shape, found: foundFor(wrong.name) } };
    });
}
