// Sums and products with broadcasting, and sums and means over axes: tensors of any rank. A gradient is summed over the axes along
// which its operand was repeated.

import { binaryCodes } from '../../../kernels/broadcast_binary/kernel.ts';
import { sizesAsParams } from '../../../kernels/sizes.ts';
import type { AttributesOf, AxesAttributes } from '../attributes.ts';
import { GraphError } from '../errors.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph.ts';
import { defineOp, sizeOf, type LoweredCall, type LoweredOperand } from '../op.ts';
import {
  broadcastShape,
  checkAxis,
  equalShapes,
  expectBroadcasts,
  hasAxis,
  joinAxes,
  repeatedAxes,
} from '../shapes.ts';

/** The gradient of a value of `shape` that was broadcast to that of `dy`. */
export function sumTo(graph: GraphBuilder, dy: ValueId, shape: Shape): ValueId {
  const from = graph.shape(dy);
  if (equalShapes(from, shape)) return dy;
  const axes = repeatedAxes(shape, from);
  const summed = axes.length > 0 ? graph.one('sum', [dy], { axes, keep: true }) : dy;
  return graph.one('reshape', [summed], { shape });
}

/** One call of broadcast_binary: c = a ∘ b, or c = scale·a without b. */
function broadcastCall(
  operation: keyof typeof binaryCodes,
  operands: readonly [a: LoweredOperand, b: LoweredOperand],
  shapes: readonly [a: Shape, b: Shape],
  c: LoweredOperand,
  shape: Shape,
  scale: number,
): LoweredCall {
  const { sizes, masks } = joinAxes(shape, (axis) => shapes.map((each) => hasAxis(each, shape, axis)), operation);
  const [a, b] = masks;
  const params = { operation: binaryCodes[operation], ...sizesAsParams(sizes), a, b, scale };
  return { kernel: 'broadcast_binary', inputs: operands, outputs: [c], params };
}

function checkedAxes(shape: Shape, { axes }: AxesAttributes, what: string): ReadonlySet<number> {
  for (const axis of axes) checkAxis(shape, axis, what);
  if (new Set(axes).size !== axes.length) throw new GraphError(`${what} names an axis twice: ${axes.join()}`);
  return new Set(axes);
}

function reducedShape(x: Shape | null, attributes: AxesAttributes, what: string): Shape {
  const axes = checkedAxes(x!, attributes, what);
  if (attributes.keep) return keptShape(x!, attributes);
  return x!.filter((_, axis) => !axes.has(axis));
}

/** The shape of the result with the summed axes still in it. */
const keptShape = (x: Shape, { axes }: AxesAttributes): Shape =>
  x.map((size, axis) => (axes.includes(axis) ? 1 : size));

function reduceCall(
  x: LoweredOperand,
  y: LoweredOperand,
  shape: Shape,
  axes: readonly number[],
  scale: number,
): LoweredCall {
  const summed = new Set(axes);
  const { sizes, masks } = joinAxes(shape, (axis) => [!summed.has(axis)], 'sum');
  const [kept] = masks;
  // Sums over rows alone have a kernel of their own.
  if (scale === 1 && sizes.length === 2 && kept === 32) {
    const [rows, width] = sizes;
    return { kernel: 'column_sum', inputs: [x], outputs: [y], params: { rows, width } };
  }
  return { kernel: 'reduce', inputs: [x], outputs: [y], params: { ...sizesAsParams(sizes), kept, scale } };
}

const countOf = (shape: Shape, axes: readonly number[]): number => sizeOf(axes.map((axis) => shape[axis]));

export const arithmeticOps = {
  /** c = a + b; a size of 1 repeats. */
  add: defineOp<AttributesOf<'add'>>({
    shape: ([a, b]) => [broadcastShape(a!, b!, 'add')],
    gradient: (graph, { inputs }, [dc]) =>
      inputs.map((input) => (dc === null ? null : sumTo(graph, dc, graph.shape(input!)))),
    lower: ({ inputs, outputs, shapes: [a, b], outputShapes: [c] }) => [
      equalShapes(a!, b!)
        ? { kernel: 'add', inputs, outputs, params: { count: sizeOf(c) } }
        : broadcastCall('add', [inputs[0], inputs[1]], [a!, b!], outputs[0], c, 1),
    ],
  }),

  /** c = a · b, element by element; a size of 1 repeats. */
  mul: defineOp<AttributesOf<'mul'>>({
    shape: ([a, b]) => [broadcastShape(a!, b!, 'mul')],
    gradient: (graph, { inputs: [a, b] }, [dc]) => {
      if (dc === null) return [null, null];
      const gradientOf = (value: ValueId, other: ValueId): ValueId =>
        sumTo(graph, graph.one('mul', [dc, other], {}), graph.shape(value));
      return [gradientOf(a!, b!), gradientOf(b!, a!)];
    },
    lower: ({ inputs, outputs, shapes: [a, b], outputShapes: [c] }) => [
      broadcastCall('multiply', [inputs[0], inputs[1]], [a!, b!], outputs[0], c, 1),
    ],
  }),

  /** y = scale · x, repeated to `shape`. */
  expand: defineOp<AttributesOf<'expand'>>({
    shape: ([x], { shape }) => {
      expectBroadcasts(x!, shape, 'expand');
      return [shape];
    },
    gradient: (graph, { inputs: [x], attributes: { scale } }, [dy]) => {
      if (dy === null) return [null];
      const shape = graph.shape(x!);
      const summed = sumTo(graph, dy, shape);
      return [scale === 1 ? summed : graph.one('expand', [summed], { shape, scale })];
    },
    lower: ({ attributes: { shape, scale }, inputs: [x], outputs: [y], shapes }) => [
      broadcastCall('multiply', [x, null], [shapes[0]!, []], y, shape, scale),
    ],
  }),

  /** Sums over axes. */
  sum: defineOp<AxesAttributes>({
    shape: ([x], attributes) => [reducedShape(x, attributes, 'sum')],
    gradient: (graph, { inputs: [x], attributes }, [dy]) => [repeat(graph, dy, graph.shape(x!), attributes, 1)],
    lower: ({ attributes: { axes }, inputs: [x], outputs: [y], shapes }) => [reduceCall(x, y, shapes[0]!, axes, 1)],
  }),

  /** Means over axes. */
  mean: defineOp<AxesAttributes>({
    shape: ([x], attributes) => [reducedShape(x, attributes, 'mean')],
    gradient: (graph, { inputs: [x], attributes }, [dy]) => {
      const shape = graph.shape(x!);
      return [repeat(graph, dy, shape, attributes, 1 / countOf(shape, attributes.axes))];
    },
    lower: ({ attributes: { axes }, inputs: [x], outputs: [y], shapes }) => [
      reduceCall(x, y, shapes[0]!, axes, 1 / countOf(shapes[0]!, axes)),
    ],
  }),
};

/** dy of a sum over axes, repeated along them. */
function repeat(
  graph: GraphBuilder,
  dy: ValueId | null,
  shape: Shape,
  attributes: AxesAttributes,
  scale: number,
): ValueId | null {
  if (dy === null) return null;
  const kept = keptShape(shape, attributes);
  const column = equalShapes(graph.shape(dy), kept) ? dy : graph.one('reshape', [dy], { shape: kept });
  return graph.one('expand', [column], { shape, scale });
}
