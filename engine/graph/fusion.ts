// Fusion: merges an activation into the product or batch norm that feeds it, and an activation’s derivative into the product that makes
// the gradient. Each saves a pass over memory and a dispatch. Runs after autodiff, on the complete step.

import type { DenseAttributes, DenseInputGradAttributes } from './attributes.ts';
import { newGraph } from './builder.ts';
import { consumersOf, type GraphBuilder, type Graph, type Node, type NodeOf, type ValueId } from './graph.ts';

/** The node a product is merged into, by the product's index. */
interface Merge {
  readonly producer: number;
  readonly node: Node;
}

/** Returns the fused graph and the new ids of `roots`, whose values stay readable. */
export function fuse(graph: Graph, roots: readonly ValueId[]): { graph: GraphBuilder; roots: ValueId[] } {
  const consumers = consumersOf(graph);
  const keep = new Set(roots);
  const merges = new Map<number, Merge>();
  graph.nodes.forEach((node, index) => {
    const merge = mergeable(graph, node);
    if (!merge) return;
    const [value] = graph.nodes[merge.producer].outputs;
    if (consumers[value].length === 1 && !keep.has(value)) merges.set(index, merge);
  });
  const dropped = new Set([...merges.values()].map((merge) => merge.producer));

  const builder = newGraph();
  const renamed = new Map<ValueId, ValueId>();
  graph.nodes.forEach((original, index) => {
    if (dropped.has(index)) return;
    const node = merges.get(index)?.node ?? original;
    const inputs = node.inputs.map((id) => (id === null ? null : renamed.get(id)!));
    builder.origin = node.origin;
    const outputs = builder.apply(node.op, inputs, node.attributes as never);
    node.outputs.forEach((id, i) => renamed.set(id, outputs[i]));
  });
  return { graph: builder, roots: roots.map((id) => renamed.get(id)!) };
}

/** The single node that does the work of `node` and of the product before it, or null. */
function mergeable(graph: Graph, node: Node): Merge | null {
  const input = node.inputs[0];
  if (input === null || input === undefined) return null;
  const producer = graph.values[input].node;
  const before = graph.nodes[producer];
  if (node.op === 'activation' && fusesActivation(before)) {
    const { activation, slope } = node.attributes;
    if (before.attributes.activation !== 'none') return null;
    const outputs = [node.outputs[0], ...before.outputs.slice(1)];
    return { producer, node: withAttributes(before, before.inputs, outputs, { activation, slope }) };
  }
  if (node.op === 'activation_grad' && (before.op === 'dense_input_grad' || before.op === 'conv2d_input_grad')) {
    const { activation, slope, fromOutput } = node.attributes;
    if (!fromOutput || before.attributes.derivative !== 'none') return null;
    if (before.op === 'conv2d_input_grad' && before.attributes.activation !== 'none') return null;
    const inputs = [...before.inputs.slice(0, -1), node.inputs[1]];
    return { producer, node: withAttributes(before, inputs, node.outputs, { derivative: activation, slope }) };
  }
  return null;
}

/** What applies an activation before it stores its result; a transposed convolution is one without a derivative. */
function fusesActivation(
  node: Node,
): node is NodeOf<'dense'> | NodeOf<'conv2d'> | NodeOf<'conv2d_input_grad'> | NodeOf<'batch_norm'> {
  if (node.op === 'conv2d_input_grad') return node.attributes.derivative === 'none';
  return node.op === 'dense' || node.op === 'conv2d' || node.op === 'batch_norm';
}

function withAttributes(
  node: Node,
  inputs: Node['inputs'],
  outputs: Node['outputs'],
  attributes: Partial<DenseAttributes & DenseInputGradAttributes>,
): Node {
  return { ...node, inputs, outputs, attributes: { ...node.attributes, ...attributes } } as Node;
}
