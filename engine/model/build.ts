// From a resolved model to a graph: the input stage (embeddings) and the layers in order.

import type { GraphBuilder, ValueId } from '../graph/graph.ts';
import { streams } from '../optim/random.ts';
import { placedTexts, type ResolvedLayer, type ResolvedModel } from './resolve.ts';

export interface ForwardOptions {
  readonly mode: 'train' | 'inference';
  readonly seed: number;
  /** Capacity of the step tables. */
  readonly steps: number;
  /** Dropout follows a schedule. */
  readonly scheduled?: boolean;
  /** Of a language model: an answer at each position, as rows of their own; else at the last one. */
  readonly everyPosition?: boolean;
}

/** The model's values in a graph. */
export interface Forward {
  /** [batch, outputs]; of members while training [batch, members, outputs]; at every position [batch · length, outputs] */
  readonly output: ValueId;
  /** Value of each parameter, in the model's order. */
  readonly parameters: readonly ValueId[];
  /** What each layer gives, in their order. */
  readonly layers: readonly ValueId[];
}

/** Appends the forward pass on `x` ([batch, width] rows of a table, or [batch,C,H,W]). */
export function buildForward(
  graph: GraphBuilder,
  model: ResolvedModel,
  x: ValueId,
  { mode, seed, steps, scheduled = false, everyPosition = false }: ForwardOptions,
): Forward {
  const parameters = new Map<string, ValueId>();
  for (const { name, shape, type } of model.parameters) {
    parameters.set(name, graph.one('parameter', [], { name, shape, type }));
  }
  graph.origin = { layer: 'input', phase: 'forward' };
  const used = model.layers.some(({ inputs }) => inputs.includes(-1));
  const input = used ? buildInput(graph, model, x, parameters) : x;
  const lengths = lengthsOfTexts(graph, model, x);
  const values: ValueId[] = [];
  for (const layer of model.layers) {
    const tensor = (name: string): ValueId => {
      const full = `${layer.id}.${name}`;
      const parameter = parameters.get(full);
      if (parameter !== undefined) return front(parameter, name);
      const { shape, type } = layer.states.find((state) => state.name === full)!;
      return front(graph.one('state', [], { name: full, shape, type }), name);
    };
    const front = (table: ValueId, name: string): ValueId => {
      const rows = graph.shape(table).at(0);
      const size = layer.fronts?.get(name) ?? rows;
      return size === undefined || size === rows ? table : graph.one('slice', [table], { axis: 0, offset: 0, size });
    };
    const context = {
      graph,
      mode: layer.frozen ? ('inference' as const) : mode,
      args: layer.args,
      around: layer.around,
      tensor,
      stateName: (name: string) => `${layer.id}.${name}`,
      random: { seed, stream: streams.dropout + layer.index },
      steps,
      scheduled,
      rows: x,
      lengths: () => lengths(layer),
      everyPosition,
    };
    graph.origin = { layer: layer.id, phase: 'forward' };
    const inputs = layer.inputs.map((position) => (position < 0 ? input : values[position]));
    values.push(layer.def.build(context, inputs));
  }
  return {
    output: values[values.length - 1],
    parameters: model.parameters.map(({ name }) => parameters.get(name)!),
    layers: values,
  };
}

/** Looks up the embedded columns and joins them to the numeric features. */
function buildInput(
  graph: GraphBuilder,
  model: ResolvedModel,
  x: ValueId,
  parameters: ReadonlyMap<string, ValueId>,
): ValueId {
  const { input } = model;
  if (input.kind !== 'table') return x;
  if (input.embeddings.length === 0) {
    if (!input.texts?.length) return x;
    return graph.one('slice', [x], { axis: 1, offset: 0, size: input.numeric });
  }
  const table = (name: string): ValueId => {
    const { shape, type } = model.inputParameters.find((parameter) => parameter.name === name)!;
    return parameters.get(name) ?? graph.one('state', [], { name, shape, type });
  };
  const parts = input.embeddings.map((_, i) =>
    graph.one('embedding', [table(`input.embedding${i}`), x], { column: input.numeric + i }),
  );
  if (input.numeric > 0) parts.unshift(graph.one('slice', [x], { axis: 1, offset: 0, size: input.numeric }));
  return parts.length === 1 ? parts[0] : graph.one('concat', parts, { axis: 1 });
}

/** Tokens of the rows of each text, counted once where a layer asks. */
function lengthsOfTexts(
  graph: GraphBuilder,
  model: ResolvedModel,
  x: ValueId,
): (layer: ResolvedLayer) => ValueId | null {
  const counted = new Map<number, ValueId>();
  const texts = placedTexts(model.input);
  return ({ around: { positions } }) => {
    if (positions === null || positions.text === null) return null;
    const known = counted.get(positions.text);
    if (known !== undefined) return known;
    const { column, length } = texts[positions.text];
    const lengths = graph.one('text_lengths', [x], { column, length });
    counted.set(positions.text, lengths);
    return lengths;
  };
}
