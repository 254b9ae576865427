// Which values of a program are stored in 16 bits (`precision: mixed16`): what layers make of a batch on the way forward, which is what
// a step keeps and moves most of. All else stays float32: parameters, their gradients and the optimizer, gradients of activations (so that
// none is lost below the smallest number of 16 bits, and losses need no scale), statistics, rows and their codes, losses and what they read.

import { storageOf } from '../graph/segments.ts';
import type { Graph, Node, ValueId } from '../graph/graph.ts';
import { ops } from '../graph/ops.ts';
import type { OpName } from '../graph/attributes.ts';

/** Ops whose results have to be exact: counts, positions, codes. */
const exact: ReadonlySet<OpName> = new Set(['parameter', 'state', 'text_lengths', 'positions_mask'] as const);
const notLayers: ReadonlySet<string> = new Set(['data', 'input', 'loss']);

/** Stored values of a graph over `batch` rows that take 16 bits. */
export function halfValues(graph: Graph, batch: number): ReadonlySet<ValueId> {
  const stored = storageOf(graph);
  const halves = new Set<ValueId>();
  for (const node of graph.nodes) {
    const [first] = node.outputs;
    if (!isActivation(node) || graph.values[first].type !== 'f32') continue;
    // Beside its result an op gives statistics.
    if ((graph.values[first].shape[0] ?? 0) % batch === 0) halves.add(first);
  }
  for (const node of graph.nodes) {
    if (node.origin.layer !== 'loss' && node.op !== 'store_outputs') continue;
    for (const input of node.inputs) if (input !== null) halves.delete(stored(input));
  }
  return halves;
}

function isActivation({ op, origin }: Node): boolean {
  if (origin.phase === 'backward' && !origin.again) return false;
  return !exact.has(op) && !ops[op].alias && !notLayers.has(origin.layer);
}
