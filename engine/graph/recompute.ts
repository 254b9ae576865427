// Gradient checkpointing: what a segment of layers makes for itself is let go after the forward pass and made again just before
// the backward pass reads it. Runs last, on the fused graph, so that the same kernels run over the same numbers: the gradients
// have the same bits as without. Random numbers are functions of their counters, and running statistics move once.

import { newGraph } from './builder.ts';
import type { Graph, GraphBuilder, Node, ValueId } from './graph.ts';
import { ops } from './ops.ts';
import { segmentsOf } from './segments.ts';

/** Returns the graph in which segments are computed again, and the new ids of `roots`, whose values are kept. */
export function recompute(graph: Graph, roots: readonly ValueId[]): { graph: GraphBuilder; roots: ValueId[] } {
  const again = nodesComputedAgain(graph, new Set(roots));
  const builder = newGraph();
  const renamed = new Map<ValueId, ValueId>();
  /** Values made a second time, by those of the forward pass. */
  const remade = new Map<ValueId, ValueId>();
  const done = new Set<number>();
  const add = (node: Node, name: (id: ValueId) => ValueId, made: Map<ValueId, ValueId>, attributes: unknown): void => {
    const inputs = node.inputs.map((id) => (id === null ? null : name(id)));
    const outputs = builder.apply(node.op, inputs, attributes as never);
    node.outputs.forEach((id, i) => made.set(id, outputs[i]));
  };
  for (const node of graph.nodes) {
    const backward = node.origin.phase === 'backward';
    const latest = (id: ValueId): ValueId => (backward ? remade.get(id) : undefined) ?? renamed.get(id)!;
    if (backward) {
      for (const id of node.inputs) {
        const segment = id === null ? undefined : again.segmentOf.get(graph.values[id].node);
        if (segment === undefined || done.has(segment)) continue;
        done.add(segment);
        for (const index of again.nodes.get(segment)!) {
          const first = graph.nodes[index];
          builder.origin = { layer: first.origin.layer, phase: 'backward', again: true };
          const repeat = ops[first.op].again as ((attributes: unknown) => unknown) | undefined;
          add(first, latest, remade, repeat ? repeat(first.attributes) : first.attributes);
        }
      }
    }
    builder.origin = node.origin;
    add(node, latest, renamed, node.attributes);
  }
  return { graph: builder, roots: roots.map((id) => renamed.get(id)!) };
}

/** Nodes that are computed again, in their order by segment, and the segment of each. */
interface ComputedAgain {
  readonly nodes: ReadonlyMap<number, readonly number[]>;
  readonly segmentOf: ReadonlyMap<number, number>;
}

function nodesComputedAgain(graph: Graph, roots: ReadonlySet<ValueId>): ComputedAgain {
  const { segments, of } = segmentsOf(graph);
  const segmentOf = new Map<number, number>();
  const visit = (id: ValueId): void => {
    if (roots.has(id)) return;
    const segment = of(id);
    const { node: index } = graph.values[id];
    const node = graph.nodes[index];
    // The backward pass begins with the last segment: what that has made is still there.
    if (segment === null || segment === segments.length - 1 || segmentOf.has(index)) return;
    if (ops[node.op].effect && !ops[node.op].again) return;
    segmentOf.set(index, segment);
    for (const input of node.inputs) if (input !== null) visit(input);
  };
  for (const node of graph.nodes) {
    if (node.origin.phase === 'backward') for (const id of node.inputs) if (id !== null) visit(id);
  }
  const nodes = new Map<number, number[]>();
  for (const [index, segment] of [...segmentOf].sort(([a], [b]) => a - b)) {
    const list = nodes.get(segment);
    if (list) list.push(index);
    else nodes.set(segment, [index]);
  }
  return { nodes, segmentOf };
}
