// Builds graphs: adds nodes with the shapes their ops give them, and leaves out what is not needed.

import type { AttributesOf, OpName } from './attributes.ts';
import type { Graph, GraphBuilder, Node, Shape, Value, ValueId } from './graph.ts';
import { ops } from './ops.ts';

/** A graph without nodes. */
export function newGraph(): GraphBuilder {
  return new Builder();
}

class Builder implements GraphBuilder {
  readonly nodes: Node[] = [];
  readonly values: Value[] = [];

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
    this.nodes.push({ op, inputs, outputs, attributes } as unknown as Node);
    return outputs;
  }

  one<K extends OpName>(op: K, inputs: readonly (ValueId | null)[], attributes: AttributesOf<K>): ValueId {
    return this.apply(op, inputs, attributes)[0];
  }

  shape(id: ValueId): Shape {
    return this.values[id].shape;
  }
}
