// What a layer definition declares. The form in the window, validation, counting and the graph all come from it, so a new
// layer is one file in layers/ and a line in registry.ts.

import type { ElementType } from '../../kernels/contract.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph/graph.ts';
import type { InitializerSpec } from '../optim/initializers.ts';

/** One argument of a layer: drives the form, the default and the check. */
export type FieldDef =
  | {
      readonly kind: 'integer' | 'number';
      readonly name: string;
      readonly label: string;
      readonly help?: string;
      readonly default: number;
      readonly minimum: number;
      readonly maximum: number;
    }
  | {
      readonly kind: 'choice';
      readonly name: string;
      readonly label: string;
      readonly help?: string;
      readonly default: string;
      readonly choices: readonly string[];
    }
  | {
      readonly kind: 'boolean';
      readonly name: string;
      readonly label: string;
      readonly help?: string;
      readonly default: boolean;
    };

export type LayerArguments = Readonly<Record<string, number | string | boolean>>;

/** A trained tensor of a layer. */
export interface ParameterDef {
  /** `weight`, `bias`, …; its full name is `<layer id>.<name>`. */
  readonly name: string;
  readonly shape: Shape;
  readonly initializer: InitializerSpec;
  /** Weight decay acts on it (weights yes; biases and norms no). */
  readonly decay: boolean;
  /** `f32` unless told otherwise. */
  readonly type?: ElementType;
}

/** A kept but untrained tensor, such as a running mean. */
export interface StateDef {
  readonly name: string;
  readonly shape: Shape;
  readonly initial: number;
  /** `f32` unless told otherwise. */
  readonly type?: ElementType;
}

/** What the data decides for a layer: only `output` and the input's embeddings look at it. */
export interface LayerSurroundings {
  /** Width of the model's output. */
  readonly outputs: number;
}

/** Handed to a layer while its part of the graph is built. */
export interface LayerBuildContext {
  readonly graph: GraphBuilder;
  /** Training statistics and dropout, or inference. */
  readonly mode: 'train' | 'inference';
  readonly args: LayerArguments;
  /** Value of a parameter or state of this layer. */
  readonly tensor: (name: string) => ValueId;
  /** Full name of a state of this layer. */
  readonly stateName: (name: string) => string;
  /** Number of this layer among those that draw random numbers, and the run's seed. */
  readonly random: { readonly seed: number; readonly stream: number };
  /** Capacity of the step tables. */
  readonly steps: number;
}

/** Shapes are those of one example: no batch dimension. */
export interface LayerDef {
  readonly type: string;
  readonly title: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly group: 'core' | 'image' | 'activation' | 'normalisation' | 'regularisation' | 'join' | 'shape';
  readonly fields: readonly FieldDef[];
  /** Takes several inputs (add, concat). */
  readonly many?: boolean;
  /** Throws ModelError when the inputs do not fit. */
  readonly shape: (inputs: readonly Shape[], args: LayerArguments, around: LayerSurroundings) => Shape;
  readonly parameters?: (
    inputs: readonly Shape[],
    args: LayerArguments,
    around: LayerSurroundings,
  ) => readonly ParameterDef[];
  readonly states?: (inputs: readonly Shape[], args: LayerArguments) => readonly StateDef[];
  readonly build: (context: LayerBuildContext, inputs: readonly ValueId[]) => ValueId;
  /** Floating-point operations of the forward pass for one example, multiply-add = 2. */
  readonly flops: (inputs: readonly Shape[], output: Shape, args: LayerArguments) => number;
}
