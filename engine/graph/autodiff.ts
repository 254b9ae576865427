// Reverse-mode differentiation: walks the graph backwards once, asking each op for the gradients of its inputs, and
// sums where a value is used more than once. The result is more nodes in the same graph.

import { GraphError } from './errors.ts';
import type { GraphBuilder, ValueId } from './graph.ts';
import type { GradientRule } from './op.ts';
import { ops } from './ops.ts';

/**
 * Appends the backward pass of `loss` and returns the gradient of each of `wanted` (null where the loss does not depend on it).
 * A loss makes its own gradient, which is multiplied by `scale` [1]; another value is weighed by `seed`, of its shape.
 * Throws GraphError when a gradient is needed through an op that has none.
 */
export function differentiate(
  graph: GraphBuilder,
  loss: ValueId,
  wanted: readonly ValueId[],
  { seed, scale }: { readonly seed?: ValueId; readonly scale?: ValueId } = {},
): readonly (ValueId | null)[] {
  const root = graph.values[loss].node;
  const relevant = dependsOn(graph, new Set(wanted));
  const gradients = new Map<ValueId, ValueId>(seed === undefined ? [] : [[loss, seed]]);
  for (let index = root; index >= 0; index--) {
    const node = graph.nodes[index];
    if (!node.inputs.some((input) => input !== null && relevant.has(input))) continue;
    const outputGradients = node.outputs.map((id) => gradients.get(id) ?? null);
    if (index !== root && outputGradients.every((gradient) => gradient === null)) continue;
    const rule = ops[node.op].gradient as GradientRule<unknown> | 'none';
    if (rule === 'none') throw new GraphError(`${node.op} cannot be differentiated`);
    graph.origin = { layer: node.origin.layer, phase: 'backward' };
    rule(graph, node, outputGradients).forEach((made, i) => {
      const input = node.inputs[i];
      if (made === null || input === null || !relevant.has(input)) return;
      const gradient = index === root && scale !== undefined ? graph.one('mul', [made, scale], {}) : made;
      const sum = gradients.get(input);
      gradients.set(input, sum === undefined ? gradient : graph.one('add', [sum, gradient], {}));
    });
  }
  return wanted.map((id) => gradients.get(id) ?? null);
}

/** Values that depend on one of `sources`, the sources included. */
function dependsOn(graph: GraphBuilder, sources: ReadonlySet<ValueId>): ReadonlySet<ValueId> {
  const reached = new Set(sources);
  for (const node of graph.nodes) {
    if (node.inputs.some((input) => input !== null && reached.has(input))) {
      for (const output of node.outputs) reached.add(output);
    }
  }
  return reached;
}
