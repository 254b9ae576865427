// From a ModelSpec and a description of the data to a checked model: arguments complete, inputs wired, shapes and
// parameters known. Everything after this (counting, graphs, checkpoints) reads the resolved model.

import type { Shape } from '../graph/graph.ts';
import { sizeOf } from '../graph/op.ts';
import { ModelError } from './errors.ts';
import type {
  LayerArguments,
  LayerDef,
  LayerSurroundings,
  ParameterDef,
  PlacedText,
  Positions,
  StateDef,
} from './layer.ts';
import { lossRules, resolveLoss } from './losses.ts';
import { layers as registry } from './registry.ts';
import {
  predictsTokens,
  type InputSpec,
  type LayerSpec,
  type LossName,
  type ModelSpec,
  type OutputSpec,
} from './spec.ts';
import { ownValue } from '../protocol/own.ts';
import type { Value } from '../settings/field.ts';
import { expectedInstead } from '../settings/values.ts';

export interface ResolvedLayer {
  readonly index: number;
  readonly id: string;
  readonly def: LayerDef;
  readonly args: LayerArguments;
  readonly around: LayerSurroundings;
  /** Positions of the layers feeding this one; −1 = the model's input. */
  readonly inputs: readonly number[];
  readonly inputShapes: readonly Shape[];
  readonly outputShape: Shape;
  /** What its output is a sequence of; null: it is none. */
  readonly positions: Positions | null;
  /** Names are complete: `0.weight`. */
  readonly parameters: readonly ParameterDef[];
  readonly states: readonly StateDef[];
  /** Its weights stay as they are, and it works as in prediction: see freeze.ts. */
  readonly frozen?: boolean;
  /** Rows it reads of its tensors, by their own names, where it may read fewer than there are: see shortened.ts. */
  readonly fronts?: ReadonlyMap<string, number>;
}

export interface ResolvedModel {
  readonly input: InputSpec;
  /** Shape of one example after the input stage (embeddings looked up and joined). */
  readonly inputShape: Shape;
  /** Tables of the embedded columns. */
  readonly inputParameters: readonly ParameterDef[];
  readonly layers: readonly ResolvedLayer[];
  readonly outputs: number;
  /** All parameters in order: input stage first. */
  readonly parameters: readonly ParameterDef[];
  readonly states: readonly StateDef[];
}

/** Numbers of all its parameters. */
export const parameterCount = ({ parameters }: Pick<ResolvedModel, 'parameters'>): number =>
  parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);

/** Width of the output layer: as many as the loss needs. */
export function outputWidth(output: OutputSpec, loss: 'auto' | LossName): number {
  return lossRules[resolveLoss(loss, output)].width(output.kind === 'classes' ? output.classes.length : 0);
}

/** Shape of one example as the layers see it. */
export function inputShapeOf(input: InputSpec): Shape {
  if (input.kind === 'image') return [input.channels, input.height, input.width];
  if (input.kind === 'columns') {
    throw new ModelError('A network does not learn from columns as they are.', 'Have the rows scaled for it.');
  }
  return [input.numeric + input.embeddings.reduce((sum, column) => sum + column.dimensions, 0)];
}

/** Resolves a whole model. Throws the first ModelError, which names the layer. */
export function resolveModel(spec: ModelSpec, input: InputSpec, outputs: number): ResolvedModel {
  const model = tryResolve(spec, input, outputs);
  const [error] = model.errors;
  if (!error) return model.resolved;
  const { layer } = error;
  const where = layer < 0 ? '' : `Layer ${layer + 1} (${spec.layers[layer].id ?? spec.layers[layer].type}): `;
  throw new ModelError(where + error.message, error.hint, layer);
}

/** Resolves as far as possible and collects the errors, for the editor. Layers after an error keep the last good shape. */
export function tryResolve(
  spec: ModelSpec,
  input: InputSpec,
  outputs: number,
): { readonly resolved: ResolvedModel; readonly errors: readonly ModelError[] } {
  const errors: ModelError[] = [];
  const inputShape = inputShapeOf(input);
  const data = { outputs, numbers: numbersOf(input), texts: placedTexts(input) };
  const resolved: ResolvedLayer[] = [];
  const positions = new Map<string, number>([['input', -1]]);
  spec.layers.forEach((layer, index) => {
    try {
      const next = resolveLayer(layer, index, resolved, positions, inputShape, data);
      if (positions.has(next.id)) throw new ModelError(`Two layers are called “${next.id}”.`, 'Rename one.', index);
      positions.set(next.id, index);
      resolved.push(next);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      errors.push(new ModelError(error.message, error.hint, index));
      resolved.push(unresolved(layer, index, resolved.at(-1) ?? { outputShape: inputShape, positions: null }));
      if (!positions.has(idOf(layer, index))) positions.set(idOf(layer, index), index);
    }
  });
  if (spec.layers.at(-1)?.type !== 'output') {
    errors.push(new ModelError('The last layer has to be Output.', 'Add an Output layer at the end.'));
  }
  spec.layers.forEach((layer, index) => {
    if (layer.type === 'output' && index < spec.layers.length - 1) {
      errors.push(new ModelError('Output has to be the last layer.', 'Move it to the end or use Dense.', index));
    }
  });
  if (predictsTokens(input)) errors.push(...lookingAhead(resolved));
  const inputParameters = embeddingTables(input);
  const parameters = [...inputParameters, ...resolved.flatMap((layer) => layer.parameters)];
  const states = resolved.flatMap((layer) => layer.states);
  return {
    resolved: { input, inputShape, inputParameters, layers: resolved, outputs, parameters, states },
    errors,
  };
}

/** Layers of a language model that would see the tokens they are to tell. */
const lookingAhead = (layers: readonly ResolvedLayer[]): readonly ModelError[] =>
  layers.flatMap(({ def, args, index }) => {
    if (def.looksAhead?.(args) !== true) return [];
    const message = `${def.title} looks ahead: it would see the tokens that a language model is to tell.`;
    return [new ModelError(message, 'Set it to look back only, or begin with gpt-char.', index)];
  });

function embeddingTables(input: InputSpec): readonly ParameterDef[] {
  if (input.kind !== 'table') return [];
  return input.embeddings.map((column, i) => ({
    name: `input.embedding${i}`,
    shape: [column.vocabulary, column.dimensions],
    initializer: { kind: 'normal', deviation: 1 / Math.sqrt(column.dimensions) },
    decay: true,
  }));
}

/** Columns of the input that are numbers. */
function numbersOf(input: InputSpec): readonly number[] {
  if (input.kind !== 'table') return [];
  return input.numbers ?? Array.from({ length: input.numeric }, (_, column) => column);
}

/** The texts of an input and where their codes stand: behind the numbers and the embedded categories. */
export function placedTexts(input: InputSpec): readonly PlacedText[] {
  if (input.kind !== 'table') return [];
  let column = input.numeric + input.embeddings.length;
  return (input.texts ?? []).map((text) => {
    const placed = { ...text, column };
    column += text.length;
    return placed;
  });
}

/** The columns of the input stand in its output where they stood. */
const keepsColumns = ({ def, around }: ResolvedLayer): boolean => def.byColumn === true && around.onColumns;

const idOf = (layer: LayerSpec, index: number): string => layer.id ?? String(index);

function unresolved(
  layer: LayerSpec,
  index: number,
  { outputShape, positions }: Pick<ResolvedLayer, 'outputShape' | 'positions'>,
): ResolvedLayer {
  const def = registry.get(layer.type) ?? registry.get('flatten')!;
  const id = idOf(layer, index);
  const around = { outputs: 0, numbers: [], onColumns: false, texts: [], positions: null };
  return {
    index,
    id,
    def,
    args: {},
    around,
    inputs: [],
    inputShapes: [],
    outputShape,
    positions,
    parameters: [],
    states: [],
  };
}

function resolveLayer(
  layer: LayerSpec,
  index: number,
  before: readonly ResolvedLayer[],
  positions: ReadonlyMap<string, number>,
  inputShape: Shape,
  data: Omit<LayerSurroundings, 'onColumns' | 'positions'>,
): ResolvedLayer {
  const def = registry.get(layer.type);
  if (!def) throw new ModelError(`There is no layer “${layer.type}”.`, `Layers: ${[...registry.keys()].join(', ')}.`);
  const args = resolveArguments(def, layer);
  const inputs = resolveInputs(def, layer, index, positions).filter(notEmpty(def, inputShape, data));
  const inputShapes = inputs.map((position) => (position < 0 ? inputShape : before[position].outputShape));
  const around = {
    ...data,
    onColumns: inputs.every((position) => position < 0 || keepsColumns(before[position])),
    positions: positionsOf(def, inputs, before),
  };
  const outputShape = def.shape(inputShapes, args, around);
  const id = idOf(layer, index);
  const named = <T extends { readonly name: string }>(defs: readonly T[]): readonly T[] =>
    defs.map((item) => ({ ...item, name: `${id}.${item.name}` }));
  return {
    index,
    id,
    def,
    args,
    around,
    inputs,
    inputShapes,
    outputShape,
    positions:
      def.positions === 'begins' ? { text: textOf(def, args) } : def.positions === 'keeps' ? around.positions : null,
    parameters: named(def.parameters?.(inputShapes, args, around) ?? []),
    states: named(def.states?.(inputShapes, args) ?? []),
  };
}

/** Leaves out what Concat puts beside texts where a table turns out to have no numbers and categories. Throws ModelError where another layer reads them. */
function notEmpty(def: LayerDef, inputShape: Shape, { texts }: Pick<LayerSurroundings, 'texts'>) {
  const empty = inputShape[0] === 0 && texts.length > 0;
  return (position: number): boolean => {
    if (position >= 0 || !empty) return true;
    if (def.type === 'concat') return false;
    const message = `${def.title} reads numbers and categories, and there are none to learn from.`;
    throw new ModelError(message, 'Begin this branch with a token embedding, or take it out.');
  };
}

/** Number of the text that a layer takes; null for one that takes an input. */
const textOf = (def: LayerDef, args: LayerArguments): number | null =>
  def.fromText ? (args['text'] as number) - 1 : null;

/** What the inputs of a layer are sequences of. Throws ModelError where it takes none, or they differ. */
function positionsOf(def: LayerDef, inputs: readonly number[], before: readonly ResolvedLayer[]): Positions | null {
  const each = inputs.map((position) => (position < 0 ? null : before[position].positions));
  const [first = null, ...others] = each;
  const same = (other: Positions | null): boolean =>
    (other === null) === (first === null) && other?.text === first?.text;
  if (!others.every(same)) {
    throw new ModelError(
      `${def.title} joins sequences of different texts, or one with values that are no sequence.`,
      'Add a Pool positions layer to each branch first.',
    );
  }
  if (first !== null && def.positions === undefined) {
    throw new ModelError(`${def.title} does not work on sequences.`, 'Add a Pool positions layer before it.');
  }
  return first;
}

function resolveInputs(
  def: LayerDef,
  layer: LayerSpec,
  index: number,
  positions: ReadonlyMap<string, number>,
): readonly number[] {
  if (def.fromText) {
    if (layer.from === undefined) return [];
    throw new ModelError(`${def.title} takes no layer's output: it begins a branch.`, 'Take “from” out.');
  }
  const from = layer.from === undefined ? [] : typeof layer.from === 'string' ? [layer.from] : layer.from;
  if (def.many ? from.length < 2 : from.length > 1) {
    const wanted = def.many ? 'at least two inputs' : 'one input';
    throw new ModelError(
      `${def.title} takes ${wanted}, got ${from.length}.`,
      def.many ? 'List the ids of the layers to join in "from".' : 'Join branches with Add or Concat first.',
    );
  }
  if (from.length === 0) return [index - 1];
  return from.map((name) => {
    const position = positions.get(name);
    if (position !== undefined) return position;
    const known = [...positions.keys()].join(', ');
    throw new ModelError(`No layer called “${name}” comes before this one.`, `Known here: ${known}.`);
  });
}

const reserved = new Set(['type', 'id', 'from']);

/** Checks a layer's arguments against its table and fills in the defaults. */
function resolveArguments(def: LayerDef, layer: LayerSpec): LayerArguments {
  const unknown = Object.keys(layer).find((name) => !reserved.has(name) && !Object.hasOwn(def.fields, name));
  if (unknown) {
    const names = Object.keys(def.fields).join(', ') || 'none';
    throw new ModelError(`${def.title} has no argument “${unknown}”.`, `Its arguments: ${names}.`);
  }
  return Object.fromEntries(
    Object.entries(def.fields).map(([name, field]) => {
      const given = ownValue(layer, name);
      const value = given === undefined ? field.default : given;
      const expected = expectedInstead(field, value);
      if (expected === undefined) return [name, value as Value];
      throw new ModelError(`${def.title}: ${field.label} is ${JSON.stringify(value)}.`, `It has to be ${expected}.`);
    }),
  );
}
