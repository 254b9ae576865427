// What an op of our graphs has to say of its export: the ONNX nodes it becomes, or that only a training step has it. The
// inference graph is built for `exportedBatch` rows; of its shapes the first size is that number and leaves as "any".

import type { AttributesOf, OpName } from '../../graph/attributes.ts';
import type { Shape } from '../../graph/graph.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';

/** Rows of the graph that is exported. */
export const exportedBatch = 2;

/** What an export sees of a node. */
export interface ExportContext<A> {
  readonly onnx: OnnxBuilder;
  readonly attributes: A;
  readonly inputs: readonly (ValueName | null)[];
  readonly shapes: readonly (Shape | null)[];
  readonly outputShapes: readonly Shape[];
  /** A parameter or state of the model, by name. */
  readonly tensor: (name: string) => ValueName;
  /** What the model is fed: [N,width], or [N,C,H,W] normalised. */
  readonly features: ValueName;
}

/** Adds the nodes; returns the names of the outputs that are of use at inference, in order. */
export type ExportRule<A> = (context: ExportContext<A>) => readonly ValueName[];

/** `training`: no inference graph has it. `result`: it takes the model's outputs, its first input. */
export type OpExport<K extends OpName> = ExportRule<AttributesOf<K>> | 'training' | 'result';

export type OpExports<K extends OpName> = { readonly [Name in K]: OpExport<Name> };
