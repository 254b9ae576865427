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
  /** Of a new output layer where the other run has one: how many outputs that has, and this. */
  readonly outputs?: { readonly wanted: number; readonly found: number };
  /** Keeps the weights it begins with. */
  readonly frozen: boolean;
  /** Of a layer that does not fit: the first tensor that has another shape; no `found`: there is none of that name. */
  readonly wrong?: { readonly name: string; readonly wanted: Shape; readonly found?: Shape };
}

/**
 * How the layers that have weights fit those of another run, from its first to its last. Layers from `upTo` on, those that run
 * has nothing for, and an output layer of other classes are new; the first `frozen` ones are frozen.
 */
export function weightsFit(
  model: ResolvedModel,
  shapes: Readonly<Record<string, Shape>>,
  { upTo = Infinity, frozen = 0 }: { readonly upTo?: number; readonly frozen?: number },
): readonly LayerFit[] {
  const layers = [
    { layer: -1, head: false, title: 'The embedded columns', all: model.inputParameters },
    ...model.layers.map(({ index, id, def, parameters, states }) => ({
      layer: index,
      head: def.type === 'output',
      title: `Layer ${index + 1}${id === String(index) ? '' : ` “${id}”`} (${def.title})`,
      all: [...parameters, ...states],
    })),
  ];
  return layers
    .filter(({ all }) => all.length > 0)
    .map(({ layer, head, title, all }) => {
      const about = { layer, title, tensors: all.map(({ name }) => name), frozen: layer < frozen };
      const foundFor = (name: string): Shape | undefined => ownValue(shapes, name);
      if (layer >= upTo || all.every(({ name }) => !foundFor(name))) return { ...about, fit: 'new' };
      const wrong = all.find(({ name, shape }) => foundFor(name)?.join() !== shape.join());
      if (!wrong) return { ...about, fit: 'taken' };
      const outputs = head ? otherWidth(wrong.shape, foundFor(wrong.name)) : undefined;
      if (outputs) return { ...about, fit: 'new', outputs };
      return { ...about, fit: 'misfit', wrong: { name: wrong.name, wanted: wrong.shape, found: foundFor(wrong.name) } };
    });
}

/** Outputs of two output layers on the same inputs, of their first tensors that differ; undefined where more than that differs. */
function otherWidth(wanted: Shape, found: Shape | undefined): LayerFit['outputs'] {
  if (found?.length !== wanted.length || wanted.slice(0, -1).join() !== found.slice(0, -1).join()) return undefined;
  return { wanted: wanted[wanted.length - 1], found: found[found.length - 1] };
}

/** Layers from which on those in a row that fare alike are told of together. */
const manyLayers = 12;

/** The same for people: of many layers, those in a row that fare alike as one. */
export function gathered(fits: readonly LayerFit[]): readonly LayerFit[] {
  if (fits.length <= manyLayers) return fits;
  const told: LayerFit[] = [];
  let first = '';
  for (const fit of fits) {
    const before = told.at(-1);
    const alike = before && !fit.wrong && !before.wrong && !fit.outputs && !before.outputs;
    if (!alike || fit.fit !== before.fit || fit.frozen !== before.frozen) {
      told.push(fit);
      first = fit.title;
      continue;
    }
    const title = `${first} to ${fit.title.charAt(0).toLowerCase()}${fit.title.slice(1)}`;
    told[told.length - 1] = { ...before, title, tensors: [...before.tensors, ...fit.tensors] };
  }
  return told;
}
