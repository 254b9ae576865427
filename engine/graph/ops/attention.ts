// Products of stacks of matrices and softmax over the last axis: what attention is made of. M rows of a result, N columns, K the
// summed dimension. A. Vaswani et al., "Attention Is All You Need", 2017.

import { batchAsParams, mostBatchDimensions } from '../../../kernels/batched_matmul/kernel.ts';
import type { AttributesOf, MatmulAttributes } from '../attributes.ts';
import { GraphError, formatShape } from '../errors.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph.ts';
import { defineOp, expectEqual, sizeOf, type LowerContext, type LoweredCall } from '../op.ts';
import { broadcastShape, hasAxis, joinAxes, rowsOf } from '../shapes.ts';
import { sumTo } from './arithmetic.ts';

/** A stack of matrices: the axes in front of the last two, and rows and columns after transposition. */
interface Stack {
  readonly batch: Shape;
  readonly rows: number;
  readonly columns: number;
}

function stackOf(shape: Shape | null, transposed: boolean, what: string): Stack {
  if (!shape || shape.length < 2) {
    throw new GraphError(`${what} needs at least two dimensions, got ${shape ? formatShape(shape) : 'nothing'}`);
  }
  const [rows, columns] = shape.slice(-2);
  const batch = shape.slice(0, -2);
  return transposed ? { batch, rows: columns, columns: rows } : { batch, rows, columns };
}

function matmulShape(a: Shape | null, b: Shape | null, { transposeA, transposeB }: MatmulAttributes): Shape {
  const [left, right] = [stackOf(a, transposeA, 'matmul a'), stackOf(b, transposeB, 'matmul b')];
  if (left.columns !== right.rows) {
    throw new GraphError(`matmul of ${left.columns} columns with ${right.rows} rows`);
  }
  return [...broadcastShape(left.batch, right.batch, 'matmul'), left.rows, right.columns];
}

/** One matrix on the right for all on the left: their rows stand below each other. */
const isFolded = (b: Shape, { transposeA }: MatmulAttributes): boolean => !transposeA && sizeOf(b.slice(0, -2)) === 1;

/** The rows of a stack below each other. */
function folded(graph: GraphBuilder, value: ValueId): ValueId {
  const shape = graph.shape(value);
  const columns = shape[shape.length - 1];
  if (shape.length === 2) return value;
  return graph.one('reshape', [value], { shape: [sizeOf(shape) / columns, columns] });
}

function lowerMatmul({
  attributes,
  inputs: [a, b],
  outputs,
  shapes,
  outputShapes,
}: LowerContext<MatmulAttributes>): LoweredCall {
  const { transposeA, transposeB, scale } = attributes;
  const [left, right] = [stackOf(shapes[0], transposeA, 'matmul a'), stackOf(shapes[1], transposeB, 'matmul b')];
  const [n, k] = [right.columns, right.rows];
  const transposed = { transposeA: transposeA ? 1 : 0, transposeB: transposeB ? 1 : 0 };
  const batch = outputShapes[0].slice(0, -2);
  if (scale === 1 && (sizeOf(batch) === 1 || isFolded(shapes[1]!, attributes))) {
    const params = { m: sizeOf(batch) * left.rows, n, k, ...transposed, activation: 0, slope: 0, gradient: 0 };
    return { kernel: 'matmul', inputs: [a, b, null, null], outputs, params };
  }
  const { sizes, masks } = joinAxes(
    batch,
    (axis) => [hasAxis(left.batch, batch, axis), hasAxis(right.batch, batch, axis)],
    'matmul',
  );
  if (sizes.length > mostBatchDimensions) {
    throw new GraphError(
      `matmul of stacks ${formatShape(batch)} needs ${sizes.length} dimensions, its kernel has four`,
    );
  }
  // Masks count six dimensions from the last; the kernel has four.
  const [aMask, bMask] = masks.map((mask) => mask >> 2);
  const params = { ...batchAsParams(sizes), a: aMask, b: bMask, m: left.rows, n, k, ...transposed, scale };
  return { kernel: 'batched_matmul', inputs: [a, b], outputs, params };
}

export const attentionOps = {
  /** c[…,M,N] = scale · op(a)[…,M,K] · op(b)[…,K,N]; the axes in front broadcast. */
  matmul: defineOp<MatmulAttributes>({
    shape: ([a, b], attributes) => [matmulShape(a, b, attributes)],
    gradient: (graph, { inputs: [a, b], attributes }, [dc]) => {
      if (dc === null) return [null, null];
      const { transposeA, transposeB, scale } = attributes;
      const [aShape, bShape] = [graph.shape(a!), graph.shape(b!)];
      const product = (x: ValueId, turnX: boolean, y: ValueId, turnY: boolean): ValueId =>
        graph.one('matmul', [x, y], { transposeA: turnX, transposeB: turnY, scale });
      const da = transposeA ? product(b!, transposeB, dc, true) : product(dc, false, b!, !transposeB);
      // With one matrix on the right the sum over the stack is part of the product.
      const [x, dy] = isFolded(bShape, attributes) ? [folded(graph, a!), folded(graph, dc)] : [a!, dc];
      const db = transposeB ? product(dy, true, x, transposeA) : product(x, !transposeA, dy, false);
      return [sumTo(graph, da, aShape), sumTo(graph, db, bShape)];
    },
    lower: (context) => [lowerMatmul(context)],
  }),

  /** y = exp(x)/Σ exp(x) over the last axis. */
  softmax: defineOp<AttributesOf<'softmax'>>({
    shape: ([x]) => {
      rowsOf(x, 'softmax');
      return [x!];
    },
    gradient: (graph, { outputs: [y] }, [dy]) => [dy === null ? null : graph.one('softmax_grad', [dy, y], {})],
    lower: ({ inputs, outputs, shapes: [x] }) => [{ kernel: 'softmax', inputs, outputs, params: rowsOf(x, 'softmax') }],
  }),

  /** dx = y·(dy − Σ dy·y) over the last axis; inputs dy and y. */
  softmax_grad: defineOp<AttributesOf<'softmax_grad'>>({
    shape: ([dy, y]) => {
      expectEqual(dy!, y!, 'softmax output gradient');
      return [y!];
    },
    gradient: 'none',
    lower: ({ inputs, outputs, shapes: [, y] }) => [
      { kernel: 'softmax_grad', inputs, outputs, params: rowsOf(y, 'softmax') },
    ],
  }),
};
