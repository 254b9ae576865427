// The verifier: run after each pass, it finds a broken graph where it was broken instead of three layers later.

import { GraphError, formatShape } from './errors.ts';
import type { Graph } from './graph.ts';
import { ops } from './ops.ts';

/** Throws GraphError unless every value is made once, before its use, with the shape its op promises. */
export function verify(graph: Graph, after: string): void {
  const made = new Set<number>();
  graph.nodes.forEach((node, index) => {
    const where = (): string => `after ${after}: node ${index} (${node.op})`;
    for (const input of node.inputs) {
      if (input !== null && !made.has(input)) throw new GraphError(`${where()} uses value ${input} before it is made`);
    }
    const shapes = node.inputs.map((input) => (input === null ? null : graph.values[input].shape));
    const expected = ops[node.op].shape(shapes, node.attributes as never);
    if (expected.length !== node.outputs.length) {
      throw new GraphError(`${where()} has ${node.outputs.length} outputs, its op makes ${expected.length}`);
    }
    node.outputs.forEach((id, i) => {
      if (made.has(id)) throw new GraphError(`${where()} makes value ${id} a second time`);
      const { shape } = graph.values[id];
      if (!isSame(shape, expected[i])) {
        throw new GraphError(
          `${where()} output ${i} is ${formatShape(shape)}, its op makes ${formatShape(expected[i])}`,
        );
      }
      made.add(id);
    });
  });
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, i) => size === b[i]);
