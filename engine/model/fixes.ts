// What the editor offers to do about an error of a layer. Nothing is offered on trust: each change is tried on the model, and
// only one after which the layer has no error is shown, so that taking what is offered always leads to a model that trains.

import type { Shape } from '../graph/graph.ts';
import { sizeOf } from '../graph/op.ts';
import { ownValue } from '../protocol/own.ts';
import { layers as registry } from './registry.ts';
import { tryResolve } from './resolve.ts';
import type { InputSpec, LayerSpec, ModelSpec } from './spec.ts';

export interface LayerFix {
  /** What the button says: "Add Flatten", "Set Kernel size to 3". */
  readonly label: string;
  readonly change: 'insert' | 'replace' | 'remove';
  /** The layer inserted before, replaced or removed. */
  readonly position: number;
  /** All layers after the change. */
  readonly layers: readonly LayerSpec[];
}

/** A net wants pictures at least this wide before a row of features is worth calling one. */
const smallestSide = 3;

/**
 * What can be done about the error of the layer at `position`, the best first; the last one removes it where that can be
 * done. Empty if the layer has no error.
 */
export function fixesFor(model: ModelSpec, input: InputSpec, outputs: number, position: number): readonly LayerFix[] {
  const spec = { ...model, layers: withLastingNames(model.layers) };
  const errorsOf = (layers: readonly LayerSpec[]): readonly number[] =>
    tryResolve({ ...spec, layers }, input, outputs).errors.map((error) => error.layer);
  const before = errorsOf(spec.layers);
  if (!before.includes(position)) return [];
  const { resolved } = tryResolve(spec, input, outputs);
  const shape = resolved.layers[position - 1]?.outputShape ?? resolved.inputShape;

  const earlier = (errors: readonly number[]): number =>
    errors.filter((layer) => layer >= 0 && layer < position).length;
  const helps = ({ change, layers }: LayerFix): boolean => {
    const after = errorsOf(layers);
    if (earlier(after) > earlier(before)) return false;
    if (change === 'remove') return after.length < before.length;
    if (change === 'replace') return !after.includes(position);
    return !after.includes(position) && !after.includes(position + 1);
  };
  const found = candidates(spec.layers, position, shape).find(helps);
  const removal = removing(spec.layers, position);
  return [...(found ? [found] : []), ...(removal && helps(removal) ? [removal] : [])];
}

/** Changes worth trying, the most likely first. */
function candidates(layers: readonly LayerSpec[], position: number, shape: Shape): readonly LayerFix[] {
  const layer = layers[position];
  const insert = (label: string, added: LayerSpec): LayerFix => ({
    label,
    change: 'insert',
    position,
    layers: layers.toSpliced(position, 0, added),
  });
  const replace = (label: string, changed: LayerSpec): LayerFix => ({
    label,
    change: 'replace',
    position,
    layers: layers.with(position, changed),
  });
  const without = (name: string): LayerSpec => {
    const { [name]: _, ...rest } = layer;
    return rest as LayerSpec;
  };

  const images = imagesOf(shape);
  const def = registry.get(layer.type);
  const unknown = Object.keys(layer).filter(
    (name) => !['type', 'id', 'from'].includes(name) && !Object.hasOwn(def?.fields ?? {}, name),
  );
  const settings = Object.entries(def?.fields ?? {}).flatMap(([name, field]) => {
    const values = field.kind === 'number' ? [field.default, field.minimum] : [field.default];
    return values
      .filter((value) => value !== (ownValue(layer, name) ?? field.default))
      .map((value) => replace(`Set ${field.label} to ${String(value)}`, { ...layer, [name]: value }));
  });
  return [
    ...(shape.length > 1 ? [insert('Add Flatten', { type: 'flatten' })] : []),
    ...(shape.length > 1 ? [insert('Add Pool positions', { type: 'pool_positions' })] : []),
    ...(layer.type === 'reshape' && images
      ? [replace(`Set it to ${images.join(' × ')}`, reshaped(images, layer))]
      : []),
    ...(layer.type !== 'reshape' && images ? [insert(`Add Reshape to ${images.join(' × ')}`, reshaped(images))] : []),
    ...unknown.map((name) => replace(`Take out “${name}”`, without(name))),
    ...(layer.id === undefined ? [] : [replace('Take its name away', without('id'))]),
    ...settings,
    ...(layer.from === undefined || def?.many ? [] : [replace('Read from the layer before', without('from'))]),
    ...(layer.type === 'output' ? [replace('Make it Dense', { type: 'dense' })] : []),
  ];
}

const reshaped = ([channels, height, width]: Shape, layer: Partial<LayerSpec> = {}): LayerSpec => ({
  ...layer,
  type: 'reshape',
  channels,
  height,
  width,
});

/** A row of values as square pictures, as large as they can be; null if it makes none worth the name. */
function imagesOf(shape: Shape): Shape | null {
  const size = sizeOf(shape);
  for (let side = Math.floor(Math.sqrt(size)); side >= smallestSide; side--) {
    if (size % (side * side) === 0) return [size / (side * side), side, side];
  }
  return null;
}

/** Takes the layer out; whoever read from it reads from what fed it. The output has to stay. */
function removing(layers: readonly LayerSpec[], position: number): LayerFix | null {
  if (position === layers.length - 1) return null;
  const { id, from } = layers[position];
  const source = typeof from === 'string' ? from : (from?.[0] ?? (position === 0 ? 'input' : null));
  const named = [...layers];
  let feeder = source;
  const readers = layers.filter((layer) => id !== undefined && namesOf(layer).includes(id));
  if (feeder === null && readers.length > 0) {
    feeder = named[position - 1].id ?? freshId(named, named[position - 1].type);
    named[position - 1] = { ...named[position - 1], id: feeder };
  }
  const rest = named.toSpliced(position, 1).map((layer) => {
    if (id === undefined || feeder === null || !namesOf(layer).includes(id)) return layer;
    const renamed = namesOf(layer).map((name) => (name === id ? feeder : name));
    return { ...layer, from: typeof layer.from === 'string' ? renamed[0] : renamed };
  });
  return { label: 'Remove this layer', change: 'remove', position, layers: rest };
}

const namesOf = ({ from }: LayerSpec): readonly string[] =>
  from === undefined ? [] : typeof from === 'string' ? [from] : from;

/** Layers that others name by their place get a name that outlasts a change of places. */
function withLastingNames(layers: readonly LayerSpec[]): readonly LayerSpec[] {
  const named = [...layers];
  const given = new Map<string, string>();
  for (const name of layers.flatMap(namesOf)) {
    const place = Number(name);
    const referred = /^\d+$/.test(name) ? layers[place] : undefined;
    if (!referred || referred.id !== undefined || given.has(name)) continue;
    const id = freshId(named, referred.type);
    named[place] = { ...referred, id };
    given.set(name, id);
  }
  if (given.size === 0) return layers;
  return named.map((layer) => {
    const names = namesOf(layer).map((name) => given.get(name) ?? name);
    if (layer.from === undefined) return layer;
    return { ...layer, from: typeof layer.from === 'string' ? names[0] : names };
  });
}

/** A name of the form `dense_1` that no layer has. */
export function freshId(layers: readonly LayerSpec[], type: string): string {
  const taken = new Set(layers.map((layer) => layer.id));
  let number = 1;
  while (taken.has(`${type}_${number}`)) number++;
  return `${type}_${number}`;
}
