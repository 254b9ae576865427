// Which weights of another run a model can take, layer by layer, from the shapes alone: what training goes by when a run starts
// from another one, and what a person sees before it starts.

import type { Shape } from '../graph/graph.ts';
import { ownValue } from '../protocol/own.ts';
import type { ResolvedModel } from './resolve.ts';
import type { OutputSpec } from './spec.ts';

export interface LayerFit {
  /** Place of the layer; −1 = the tables of embedded columns. */
  readonly layer: number;
  readonly title: string;
  /** Names of its tensors. */
  readonly tensors: readonly string[];
  readonly fit: 'taken' | 'new' | 'misfit';
  /** Of a new output layer where the other run has one: how many outputs that has, and this. */
  readonly outputs?: { readonly wanted: number; readonly found: number };
  /** Of an output layer: the classes of the other run where they are not those here, be it new for it or, as they have no names, taken by their numbers. */
  readonly classes?: ClassNames;
  /** Of an output layer of the same classes in another order, which is taken: for each of its outputs the number of that run's. */
  readonly order?: readonly number[];
  /** Of a convolution of grey pictures that is taken from one of coloured ones: what it has for red, green and blue is added up. */
  readonly grey?: boolean;
  /** Keeps the weights it begins with. */
  readonly frozen: boolean;
  /** Of a layer that does not fit: the first tensor that has another shape; no `found`: there is none of that name. */
  readonly wrong?: { readonly name: string; readonly wanted: Shape; readonly found?: Shape };
}

/** Names of classes in the order of their outputs. */
export interface ClassNames {
  readonly here: readonly string[];
  readonly there: readonly string[];
}

/**
 * How the layers that have weights fit those of another run, from its first to its last. Layers from `upTo` on, those that run
 * has nothing for, and an output layer of other classes are new (of the same in another order it is taken by their names); the first `frozen` ones are frozen. Without `classes` their number alone tells.
 */
export function weightsFit(
  model: ResolvedModel,
  shapes: Readonly<Record<string, Shape>>,
  {
    upTo = Infinity,
    frozen = 0,
    classes,
  }: { readonly upTo?: number; readonly frozen?: number; readonly classes?: ClassNames },
): readonly LayerFit[] {
  const layers = [
    { layer: -1, head: false, convolves: false, title: 'The embedded columns', all: model.inputParameters },
    ...model.layers.map(({ index, id, def, parameters, states }) => ({
      layer: index,
      head: def.type === 'output',
      convolves: def.type === 'conv2d',
      title: `Layer ${index + 1}${id === String(index) ? '' : ` “${id}”`} (${def.title})`,
      all: [...parameters, ...states],
    })),
  ];
  return layers
    .filter(({ all }) => all.length > 0)
    .map(({ layer, head, convolves, title, all }) => {
      const about = { layer, title, tensors: all.map(({ name }) => name), frozen: layer < frozen };
      const foundFor = (name: string): Shape | undefined => ownValue(shapes, name);
      if (layer >= upTo || all.every(({ name }) => !foundFor(name))) return { ...about, fit: 'new' };
      const misshapen = all.filter(({ name, shape }) => foundFor(name)?.join() !== shape.join());
      const [wrong] = misshapen as [(typeof all)[number]?];
      const inGrey = wrong && convolves && misshapen.length === 1 && greyShape(foundFor(wrong.name));
      if (inGrey && inGrey.join() === wrong.shape.join()) return { ...about, fit: 'taken', grey: true };
      if (!wrong && head && classes && !sameNames(classes)) {
        const order = orderOf(classes);
        const perClass = all.every(({ shape }) => shape.at(-1) === order?.length);
        if (order && perClass) return { ...about, fit: 'taken', order };
        const nameless = isNumbered(classes.here) || isNumbered(classes.there);
        return { ...about, fit: nameless ? 'taken' : 'new', classes };
      }
      if (!wrong) return { ...about, fit: 'taken' };
      const outputs = head ? otherWidth(wrong.shape, foundFor(wrong.name)) : undefined;
      if (outputs) return { ...about, fit: 'new', outputs };
      return { ...about, fit: 'misfit', wrong: { name: wrong.name, wanted: wrong.shape, found: foundFor(wrong.name) } };
    });
}

/** Of kernels for three colours the shape of those for grey pictures. */
const greyShape = (found: Shape | undefined): Shape | undefined =>
  found?.length === 4 && found[1] === 3 ? [found[0], 1, found[2], found[3]] : undefined;

/** Undefined where either is not known, or they are not as many. */
export function classNames(output: OutputSpec, there: readonly string[] | undefined): ClassNames | undefined {
  if (output.kind !== 'classes' || output.classes.length !== there?.length) return undefined;
  return { here: output.classes, there };
}

/** Capitals aside: POSITIVE is positive. */
const sameNames = ({ here, there }: ClassNames): boolean =>
  here.every((name, k) => name.toLowerCase() === there[k].toLowerCase());

/** For each class here its number there; undefined where they are not the same classes, capitals aside. */
function orderOf({ here, there }: ClassNames): readonly number[] | undefined {
  const numbers = new Map(there.map((name, k) => [name.toLowerCase(), k]));
  const order = here.map((name) => numbers.get(name.toLowerCase()) ?? -1);
  return new Set(order).size === there.length && !order.includes(-1) ? order : undefined;
}

/** Whether they are called by their numbers alone, as a model is whose classes nobody named. */
const isNumbered = (names: readonly string[]): boolean =>
  names.every((name, k) => name.replace(/^LABEL_/, '') === String(k));

/** Pairs of names that are told. */
const mostNames = 3;

/** `LABEL_0 for bad, LABEL_1 for good`; `no, yes there, bad, good here`. */
export function classWords(fit: LayerFit['fit'], { here, there }: ClassNames): string {
  const some = (names: readonly string[]): string =>
    names.slice(0, mostNames).join(', ') + (names.length > mostNames ? ', …' : '');
  return fit === 'taken'
    ? some(there.map((name, k) => `${name} for ${here[k]}`))
    : `${some(there)} there, ${some(here)} here`;
}

/** Outputs of two output layers on the same inputs, of their first tensors that differ; undefined where more than that differs. */
function otherWidth(wanted: Shape, found: Shape | undefined): LayerFit['outputs'] {
  if (found?.length !== wanted.length || wanted.slice(0, -1).join() !== found.slice(0, -1).join()) return undefined;
  return { wanted: wanted[wanted.length - 1], found: found[found.length - 1] };
}

/** Of a layer that is taken for grey pictures. */
export const greyWords = 'its three colours added up for grey pictures';

/** Layers from which on those in a row that fare alike are told of together. */
const manyLayers = 12;

/** The same for people: of many layers, those in a row that fare alike as one. */
export function gathered(fits: readonly LayerFit[]): readonly LayerFit[] {
  if (fits.length <= manyLayers) return fits;
  const told: LayerFit[] = [];
  let first = '';
  for (const fit of fits) {
    const before = told.at(-1);
    const alike =
      before &&
      !fit.wrong &&
      !before.wrong &&
      !fit.outputs &&
      !before.outputs &&
      !fit.classes &&
      !fit.order &&
      !before.order &&
      !fit.grey &&
      !before.grey;
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
