// A training step as a graph in single-assignment form: nodes apply ops to values, every value is made once. Graphs are
// built by layer definitions, extended by autodiff, rewritten by fusion, and lowered to kernel calls by engine/plan.
// Shapes are complete (batch included): one graph serves one batch size.

import type { ElementType } from '../../kernels/contract.ts';
import { formatShape } from './errors.ts';
import type { AttributesOf, OpName } from './attributes.ts';

export type Shape = readonly number[];
/** Index into `Graph.values`. */
export type ValueId = number;

export interface Value {
  readonly id: ValueId;
  readonly shape: Shape;
  readonly type: ElementType;
  /** Index of the node that makes it, and which of its outputs it is. */
  readonly node: number;
  readonly output: number;
}

/** What a node is there for. `layer`: id of a layer; `input`, `data` and `loss` are what stands before and behind the layers. */
export interface Origin {
  readonly layer: string;
  readonly phase: 'forward' | 'backward';
  /** On the way back it computes once more what the way forward did. */
  readonly again?: true;
}

export interface NodeOf<K extends OpName> {
  readonly op: K;
  readonly origin: Origin;
  /** `null` marks an optional input left out. */
  readonly inputs: readonly (ValueId | null)[];
  readonly outputs: readonly ValueId[];
  readonly attributes: AttributesOf<K>;
}

/** A node of any op: narrowing `op` narrows `attributes`. */
export type Node = { [K in OpName]: NodeOf<K> }[OpName];

export interface Graph {
  readonly nodes: readonly Node[];
  readonly values: readonly Value[];
}

/** A graph that grows node by node (builder.ts); shapes are checked as nodes are added. */
export interface GraphBuilder extends Graph {
  /** Of the nodes that are added from now on. */
  origin: Origin;
  /** Adds a node and returns its outputs. Throws GraphError if the op does not take these shapes. */
  apply<K extends OpName>(op: K, inputs: readonly (ValueId | null)[], attributes: AttributesOf<K>): ValueId[];
  /** Like `apply`, for ops with one output. */
  one<K extends OpName>(op: K, inputs: readonly (ValueId | null)[], attributes: AttributesOf<K>): ValueId;
  shape(id: ValueId): Shape;
}

/** Consumers of every value, as node indices in order. */
export function consumersOf(graph: Graph): readonly (readonly number[])[] {
  const consumers: number[][] = graph.values.map(() => []);
  graph.nodes.forEach((node, index) => {
    for (const input of node.inputs) if (input !== null) consumers[input].push(index);
  });
  return consumers;
}

const formatValue = ({ type, shape }: Value): string => `${type === 'f32' ? '' : type}${formatShape(shape)}`;

/** Readable listing, one node a line; used by tests and by `--verbose`. */
export function printGraph(graph: Graph): string {
  return graph.nodes
    .map((node) => {
      const outputs = node.outputs.map((id) => `%${id}${formatValue(graph.values[id])}`).join(', ');
      const inputs = node.inputs.map((id) => (id === null ? '–' : `%${id}`)).join(', ');
      const attributes = Object.entries(node.attributes as Record<string, unknown>)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(' ');
      return `${outputs} = ${node.op}(${inputs})${attributes ? ` ${attributes}` : ''}`;
    })
    .join('\n');
}
