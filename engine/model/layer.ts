// What a layer definition declares. Its arguments are a table of settings (engine/settings/field.ts): their types, the check,
// the form in the window and the words of a comparison are derived from it, as counting and the graph are from the rest, so a
// new layer is one file in layers/ and a line in registry.ts.

import type { ElementType } from '../../kernels/contract.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph/graph.ts';
import type { InitializerSpec } from '../optim/initializers.ts';
import type { TextColumn } from './spec.ts';
import { fieldsFor, type Field, type Value, type ValueOf } from '../settings/field.ts';

/** Arguments of a layer by their names: a table of settings in which each has a default. */
export type LayerFields = Readonly<Record<string, Field<unknown> & { readonly default: Value }>>;

/** The arguments a table describes, all there. */
export type ArgumentsOf<T extends LayerFields> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

/** Those of any layer. */
export type LayerArguments = ArgumentsOf<LayerFields>;

/** Declares the arguments of layers: `layerFields({ … })`. */
export const layerFields = fieldsFor<unknown>();

/** A trained tensor of a layer. */
export interface ParameterDef {
  /** `weight`, `bias`, …; its full name is `<layer id>.<name>`. */
  readonly name: string;
  readonly shape: Shape;
  readonly initializer: InitializerSpec;
  /** Weight decay acts on it (weights yes; biases and norms no). */
  readonly decay: boolean;
  /** Its learning rate is that of the run times this; decay goes by the rate of the run. Absent: 1. */
  readonly rate?: number;
  /** `f32` unless told otherwise. */
  readonly type?: ElementType;
}

/** A kept but untrained tensor, such as a running mean. */
export interface StateDef {
  readonly name: string;
  readonly shape: Shape;
  readonly initial: number;
  /** Set before training by the training rows of the column it belongs to: see engine/train/fitted-states.ts. */
  readonly fitted?: 'robust_shift' | 'robust_scale';
  /** What it was fitted to be, instead of `initial`. */
  readonly values?: Float32Array;
  /** `f32` unless told otherwise. */
  readonly type?: ElementType;
}

/** A text of the input: `length` codes from column `column` of the rows on. */
export interface PlacedText extends TextColumn {
  readonly column: number;
}

/** What the first dimension of a value stands for where it is a sequence: tokens of a text, by its number, or parts of a picture (null). */
export interface Positions {
  readonly text: number | null;
}

/** What the data decides for a layer: few look at it. */
export interface LayerSurroundings {
  /** Width of the model's output. */
  readonly outputs: number;
  /** Columns of a table's input that are numbers: the layers in front look at it. */
  readonly numbers: readonly number[];
  /** Whether the layer stands on the model's input itself, or on layers that leave its columns where they are. */
  readonly onColumns: boolean;
  readonly texts: readonly PlacedText[];
  /** What its inputs, [length, values], are sequences of; null: they are none. */
  readonly positions: Positions | null;
}

/** Handed to a layer while its part of the graph is built. */
export interface LayerBuildContext<Arguments = LayerArguments> {
  readonly graph: GraphBuilder;
  /** Training statistics and dropout, or inference. */
  readonly mode: 'train' | 'inference';
  readonly args: Arguments;
  readonly around: LayerSurroundings;
  /** Value of a parameter or state of this layer. */
  readonly tensor: (name: string) => ValueId;
  /** Full name of a state of this layer. */
  readonly stateName: (name: string) => string;
  /** Number of this layer among those that draw random numbers, and the run's seed. */
  readonly random: { readonly seed: number; readonly stream: number };
  /** Capacity of the step tables. */
  readonly steps: number;
  /** Dropout follows a schedule. */
  readonly scheduled: boolean;
  /** The rows of the batch with the codes of all texts: [batch, width]. */
  readonly rows: ValueId;
  /** How many positions of its inputs are real: [batch]; null where all are. */
  readonly lengths: () => ValueId | null;
  /** A language model in training: each position becomes a row of its own, [batch · length, …], where sequences end. */
  readonly everyPosition: boolean;
}

/** Shapes are those of one example: no batch dimension. */
export interface LayerDef<T extends LayerFields = LayerFields> {
  readonly type: string;
  readonly title: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly group: 'core' | 'text' | 'image' | 'activation' | 'normalisation' | 'regularisation' | 'join' | 'shape';
  readonly fields: T;
  /** Takes several inputs (add, concat). */
  readonly many?: boolean;
  /** Begins a branch: takes no input, but a text of the rows. */
  readonly fromText?: boolean;
  /** What it does with a sequence of positions: begins one, works on each or among them, or makes one vector of it. Absent: it takes none. */
  readonly positions?: 'begins' | 'keeps' | 'ends';
  /** Whether a position sees what stands behind it: a language model may not. Absent: it never does. */
  readonly looksAhead?: (args: ArgumentsOf<T>) => boolean;
  /** Leaves each column of a table where it is. */
  readonly byColumn?: boolean;
  /** Throws ModelError when the inputs do not fit. */
  shape(inputs: readonly Shape[], args: ArgumentsOf<T>, around: LayerSurroundings): Shape;
  parameters?(inputs: readonly Shape[], args: ArgumentsOf<T>, around: LayerSurroundings): readonly ParameterDef[];
  states?(inputs: readonly Shape[], args: ArgumentsOf<T>): readonly StateDef[];
  build(context: LayerBuildContext<ArgumentsOf<T>>, inputs: readonly ValueId[]): ValueId;
  /** Floating-point operations of the forward pass for one example, multiply-add = 2. */
  flops(inputs: readonly Shape[], output: Shape, args: ArgumentsOf<T>): number;
}

/** A layer whose functions are given the arguments of its table; resolving checks those before it hands them over. */
export function defineLayer<const T extends LayerFields>(def: LayerDef<T>): LayerDef {
  return def as unknown as LayerDef;
}
