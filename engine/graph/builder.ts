// Builds graphs: adds nodes with the shapes their ops give them, and leaves out what is not needed.

import type { AttributesOf, OpName } from './attributes.ts';
import type { Graph, GraphBuilder, Node, Origin, Shape, Value, ValueId } from './graph.ts';
import { ops } from './ops.ts';

/** A graph without nodes. */
export function newGraph(): GraphBuilder {
  return new Builder();
}

class Builder implements GraphBuilder {
  readonly nodes: Node[] = [];
  readonly values: Value[] = [];
  origin: Origin = { layer: 'data', phase: 'forward' };

  apply<K extends OpName>(op: K, inputs: readonly (ValueId | null)[], attributes: AttributesOf<K>): ValueId[] {
    const shapes = inputs.map((id) => (id === null ? null : this.shape(id)));
    const outputShapes = ops[op].shape(shapes, attributes as never);
    const types = ops[op].types?.(
      inputs.map((id) => (id === null ? null : this.values[id].type)),
      attributes as never,
    );
    const node = this.nodes.length;
    const outputs = outputShapes.map((shape, output) => {
      const id = this.values.length;
      this.values.push({ id, shape, type: types?.[output] ?? 'f32', node, output });
      return id;
    });
    this.nodes.push({ op, inputs, outputs, attributes, origin: this.origin } as unknown as Node);
    return outputs;
  }

  one<K extends OpName>(op: K, inputs: readonly (ValueId | null)[], attributes: AttributesOf<K>): ValueId {
    return this.apply(op, inputs, attributes)[0];
  }

  shape(id: ValueId): Shape {
    return this.values[id].shape;
  }
}

/** Keeps only nodes that `roots` need or that act on the outside (`effect`), renumbering values. Returns the new ids of the roots. */
export function prune(graph: Graph, roots: readonly ValueId[]): { graph: GraphBuilder; roots: ValueId[] } {
  const needed = new Set<number>(roots.map((id) => graph.values[id].node));
  for (let index = graph.nodes.length - 1; index >= 0; index--) {
    const node = graph.nodes[index];
    if (ops[node.op].effect) needed.add(index);
    if (!needed.has(index)) continue;
    for (const input of node.inputs) if (input !== null) needed.add(graph.values[input].node);
  }
  const builder = newGraph();
  const renamed = new Map<ValueId, ValueId>();
  graph.nodes.forEach((node, index) => {
    if (!needed.has(index)) return;
    const inputs = node.inputs.map((id) => (id === null ? null : renamed.get(id)!));
    builder.origin = node.origin;
    const outputs = builder.apply(node.op, inputs, node.attributes as never);
    node.outputs.forEach((id, i) => renamed.set(id, outputs[i]));
  });
  return { graph: builder, roots: roots.map((id) => renamed.get(id)!) };
}
