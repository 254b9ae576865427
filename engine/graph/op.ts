// What an op has to declare: the shapes it makes, its gradient, and the kernel calls it becomes. The three rules stand
// side by side in engine/graph/ops/*, and the table in ops.ts is typed so that an op with a missing rule does not compile.

import { GraphError, formatShape } from './errors.ts';
import type { ElementType } from '../../kernels/contract.ts';
import type { GraphBuilder, Node, Origin, Shape, ValueId } from './graph.ts';
import type { ReservedTensor } from './tensors.ts';

/** An operand of a lowered call: a value of the graph, a reserved tensor, a state of the model by its path, or nothing. */
export type LoweredOperand = ValueId | { readonly tensor: ReservedTensor } | { readonly state: string } | null;

/** A reserved tensor as an operand. */
export const reserved = (tensor: ReservedTensor): LoweredOperand => ({ tensor });

/** A kernel call before memory is planned. Operands stand in the kernel contract's order. */
export interface LoweredCall {
  readonly kernel: string;
  /** Absent: part of the update. */
  readonly origin?: Origin;
  readonly inputs: readonly LoweredOperand[];
  readonly outputs: readonly LoweredOperand[];
  readonly params: Readonly<Record<string, number>>;
}

/** What lowering sees of a node: its values and their shapes. */
export interface LowerContext<A> {
  readonly attributes: A;
  readonly inputs: readonly (ValueId | null)[];
  readonly outputs: readonly ValueId[];
  readonly shapes: readonly (Shape | null)[];
  readonly outputShapes: readonly Shape[];
}

/** Gradients of a node's inputs from those of its outputs; `null` = none flows there. */
export type GradientRule<A> = (
  graph: GraphBuilder,
  node: Pick<Node, 'inputs' | 'outputs'> & { readonly attributes: A },
  outputGradients: readonly (ValueId | null)[],
) => readonly (ValueId | null)[];

export interface OpDefinition<A> {
  /** Output shapes; throws GraphError when the inputs do not fit. */
  readonly shape: (inputs: readonly (Shape | null)[], attributes: A) => readonly Shape[];
  /** Element types of the outputs; f32 without this rule. */
  readonly types?: (inputs: readonly (ElementType | null)[], attributes: A) => readonly ElementType[];
  /** `none`: backward ops, sources and effects, which nothing is differentiated through. */
  readonly gradient: GradientRule<A> | 'none';
  readonly lower: (context: LowerContext<A>) => readonly LoweredCall[];
  /** Acts on named tensors (running statistics, rings): kept even if no value of it is used. */
  readonly effect?: boolean;
  /** Of an effect that may be computed a second time: attributes under which it leaves the named tensors as they are. */
  readonly again?: (attributes: A) => A;
  /** Output 0 is input 0 under another shape: shares its memory, needs no call. */
  readonly alias?: boolean;
}

export const defineOp = <A>(definition: OpDefinition<A>): OpDefinition<A> => definition;

export const sizeOf = (shape: Shape): number => shape.reduce((product, size) => product * size, 1);

/** The input's shape, checked for its rank. */
export function ranked(shape: Shape | null, rank: number, what: string): Shape {
  if (shape === null || shape.length !== rank) {
    throw new GraphError(`${what} needs ${rank} dimensions, got ${shape ? formatShape(shape) : 'nothing'}`);
  }
  return shape;
}

export function expectEqual(actual: Shape, expected: Shape, what: string): void {
  if (actual.length !== expected.length || actual.some((size, i) => size !== expected[i])) {
    throw new GraphError(`${what} has shape ${formatShape(actual)}, expected ${formatShape(expected)}`);
  }
}
