// Which values of a program are stored in 16 bits (`precision: mixed16`): what layers make of a batch on the way forward and its gradients
// on the way back, which is what a step keeps and moves most of; and where a step is in parts a copy of the weights that
// products read, which the update writes beside them. All else stays float32: the parameters that are trained, their gradients and the optimizer, sums over the batch, statistics, rows and their codes, losses and what they read. Gradients are those of the loss times a scale that
// keeps them within 16 bits (kernels/loss_scale).

import { storageOf } from '../graph/segments.ts';
import type { Graph, Node, ValueId } from '../graph/graph.ts';
import { ops } from '../graph/ops.ts';
import type { OpName } from '../graph/attributes.ts';

/** Ops whose results have to be exact: counts, positions, codes. Those that are written in parts (`concat`, `slice_grad`) are packed as a whole. */
const exact: ReadonlySet<OpName> = new Set([
  'parameter',
  'state',
  'text_lengths',
  'positions_mask',
  'concat',
  'slice_grad',
] as const);
/** On the way back these sum over the batch: what they give is of a parameter, or small. */
const sums: ReadonlySet<OpName> = new Set([
  'dense_weight_grad',
  'conv2d_weight_grad',
  'channel_sum',
  'sum',
  'mean',
  'gather_grad',
  'embedding_grad',
  'token_embedding_grad',
] as const);
/** What reads weights from their copies: the factors of products, forward and backward. */
const products: ReadonlySet<OpName> = new Set([
  'dense',
  'dense_input_grad',
  'conv2d',
  'conv2d_input_grad',
  'matmul',
] as const);
const notLayers: ReadonlySet<string> = new Set(['data', 'input', 'loss']);

/** Stored values of a graph over `batch` rows that take 16 bits. `gradients`: those of the parameters. */
export function halfValues(graph: Graph, batch: number, gradients: readonly ValueId[] = []): ReadonlySet<ValueId> {
  const stored = storageOf(graph);
  const halves = new Set<ValueId>();
  /** Values that have the rows of the batch in front. */
  const ofBatch = new Set<ValueId>();
  for (const node of graph.nodes) {
    // Beside its result an op gives statistics.
    const [first] = node.outputs;
    const { op, origin, inputs } = node;
    if (ops[op].alias || op === 'parameter' || op === 'state') continue;
    const values = origin.layer === 'loss' ? node.outputs : [first];
    for (const value of values) {
      if ((graph.values[value].shape[0] ?? 0) % batch !== 0) continue;
      const backward = origin.phase === 'backward' && !origin.again;
      if (backward && (sumsOverBatch(graph, node) || !inputs.some((id) => id !== null && ofBatch.has(stored(id)))))
        continue;
      ofBatch.add(value);
      if (graph.values[value].type === 'f32' && !exact.has(op) && !notLayers.has(origin.layer)) halves.add(value);
    }
  }
  for (const node of graph.nodes) {
    if ((node.origin.layer !== 'loss' || node.origin.phase === 'backward') && node.op !== 'store_outputs') continue;
    for (const input of node.inputs) if (input !== null) halves.delete(stored(input));
  }
  for (const gradient of gradients) halves.delete(stored(gradient));
  return halves;
}

/**
 * Whether weights have copies in 16 bits: where a step is in parts. Each part reads them twice, which copies save 4 bytes a weight of, while
 * the update writes 2 once; a step that is one program would save 2 in all, for 2 bytes of memory a weight.
 */
export const copiesWeights = ({
  halfStorage,
  parts,
}: {
  readonly halfStorage?: boolean;
  readonly parts?: unknown;
}): boolean => halfStorage === true && parts !== undefined;

/**
 * Parameters that are read from `parameters.half`: matrices and filters that nothing but products reads. Biases, norms and tables are read
 * as they are.
 */
export function copiedParameters(graph: Graph): ReadonlySet<ValueId> {
  const stored = storageOf(graph);
  const copied = new Set<ValueId>();
  for (const { op, outputs } of graph.nodes) {
    const { shape, type } = graph.values[outputs[0]];
    if (op === 'parameter' && shape.length > 1 && type === 'f32') copied.add(outputs[0]);
  }
  for (const { op, inputs } of graph.nodes) {
    if (ops[op].alias || products.has(op)) continue;
    for (const input of inputs) if (input !== null) copied.delete(stored(input));
  }
  return copied;
}

/** A product of two matrices whose rows are the batch gives one of parameters. */
function sumsOverBatch(graph: Graph, node: Node): boolean {
  if (node.op === 'matmul') return node.attributes.transposeA && graph.values[node.outputs[0]].shape.length === 2;
  return sums.has(node.op);
}
