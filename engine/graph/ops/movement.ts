// Ops that move elements without changing them: reshape (which only renames a shape), transpose, concat, slice and gather, for
// tensors of any rank. Along an axis a tensor is a matrix: `outer` rows of size · inner columns.

import { stridesAsParams } from '../../../kernels/permute/kernel.ts';
import { mostDimensions, sizesAsParams } from '../../../kernels/sizes.ts';
import type { AttributesOf, BandAttributes } from '../attributes.ts';
import { GraphError, formatShape } from '../errors.ts';
import type { Shape } from '../graph.ts';
import type { LoweredCall, LoweredOperand } from '../op.ts';
import { defineOp, expectEqual, sizeOf } from '../op.ts';
import { checkAxis } from '../shapes.ts';

interface Band {
  readonly rows: number;
  readonly columns: number;
  readonly sourceWidth: number;
  readonly sourceOffset: number;
  readonly targetWidth: number;
  readonly targetOffset: number;
}

const copy = (source: LoweredOperand, target: LoweredOperand, band: Band): LoweredCall => ({
  kernel: 'copy_columns',
  inputs: [source],
  outputs: [target],
  params: { ...band },
});

/** A tensor seen along an axis. */
function along(shape: Shape, axis: number): { readonly outer: number; readonly size: number; readonly inner: number } {
  return { outer: sizeOf(shape.slice(0, axis)), size: shape[axis], inner: sizeOf(shape.slice(axis + 1)) };
}

const withSize = (shape: Shape, axis: number, size: number): Shape => shape.map((own, i) => (i === axis ? size : own));

function bandOf(shape: Shape, { axis, offset, size }: BandAttributes): Shape {
  checkAxis(shape, axis, 'slice');
  if (offset < 0 || size < 1 || offset + size > shape[axis]) {
    throw new GraphError(`slice ${offset}…${offset + size} of axis ${axis} of ${formatShape(shape)}`);
  }
  return withSize(shape, axis, size);
}

/** The order that undoes a permutation. */
const inverse = (permutation: readonly number[]): readonly number[] =>
  permutation.map((_, axis) => permutation.indexOf(axis));

/** Sizes and strides of a transposition with the axes joined that stay neighbours. */
function permuteParams(shape: Shape, permutation: readonly number[]) {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));
  const sizes: number[] = [];
  const steps: number[] = [];
  for (const axis of permutation) {
    if (shape[axis] === 1) continue;
    if (steps.at(-1) === strides[axis] * shape[axis]) {
      sizes[sizes.length - 1] *= shape[axis];
      steps[steps.length - 1] = strides[axis];
    } else {
      sizes.push(shape[axis]);
      steps.push(strides[axis]);
    }
  }
  if (sizes.length > mostDimensions) {
    throw new GraphError(`transpose of ${formatShape(shape)} needs ${sizes.length} dimensions, kernels have six`);
  }
  return { ...sizesAsParams(sizes), ...stridesAsParams(steps) };
}

/** Shape of gather: the axis gives way to the shape of the numbers. */
function gatheredShape(x: Shape, indices: Shape, axis: number): Shape {
  checkAxis(x, axis, 'gather');
  return [...x.slice(0, axis), ...indices, ...x.slice(axis + 1)];
}

export const movementOps = {
  /** The same elements under another shape; costs nothing. */
  reshape: defineOp<AttributesOf<'reshape'>>({
    shape: ([x], { shape }) => {
      if (sizeOf(x!) !== sizeOf(shape)) {
        throw new GraphError(`cannot reshape ${formatShape(x!)} to ${formatShape(shape)}`);
      }
      return [shape];
    },
    types: ([type]) => [type!],
    gradient: (graph, { inputs: [x] }, [dy]) => [
      dy === null ? null : graph.one('reshape', [dy], { shape: graph.shape(x!) }),
    ],
    alias: true,
    lower: () => [],
  }),

  /** Axis k of the result is axis permutation[k] of the input. */
  transpose: defineOp<AttributesOf<'transpose'>>({
    shape: ([x], { permutation }) => {
      if (permutation.toSorted((a, b) => a - b).join() !== x!.map((_, axis) => axis).join()) {
        throw new GraphError(`${formatShape(permutation)} is no order of the axes of ${formatShape(x!)}`);
      }
      return [permutation.map((axis) => x![axis])];
    },
    gradient: (graph, { attributes: { permutation } }, [dy]) => [
      dy === null ? null : graph.one('transpose', [dy], { permutation: inverse(permutation) }),
    ],
    lower: ({ attributes: { permutation }, inputs, outputs, shapes: [x] }) => [
      { kernel: 'permute', inputs, outputs, params: permuteParams(x!, permutation) },
    ],
  }),

  /** Joins tensors along an axis. */
  concat: defineOp<AttributesOf<'concat'>>({
    shape: (inputs, { axis }) => {
      const first = inputs[0]!;
      checkAxis(first, axis, 'concat');
      for (const input of inputs) expectEqual(withSize(input!, axis, first[axis]), first, 'concat input');
      return [
        withSize(
          first,
          axis,
          inputs.reduce((sum, input) => sum + input![axis], 0),
        ),
      ];
    },
    gradient: (graph, { inputs, attributes: { axis } }, [dy]) => {
      let offset = 0;
      return inputs.map((input) => {
        const size = graph.shape(input!)[axis];
        const gradient = dy === null ? null : graph.one('slice', [dy], { axis, offset, size });
        offset += size;
        return gradient;
      });
    },
    lower: ({ attributes: { axis }, inputs, outputs: [y], shapes, outputShapes }) => {
      const { outer, size, inner } = along(outputShapes[0], axis);
      let targetOffset = 0;
      return inputs.map((input, i) => {
        const columns = shapes[i]![axis] * inner;
        const call = copy(input, y, {
          rows: outer,
          columns,
          sourceWidth: columns,
          sourceOffset: 0,
          targetWidth: size * inner,
          targetOffset,
        });
        targetOffset += columns;
        return call;
      });
    },
  }),

  /** `size` elements of an axis from `offset` on. */
  slice: defineOp<BandAttributes>({
    shape: ([x], attributes) => [bandOf(x!, attributes)],
    gradient: (graph, { inputs: [x], attributes }, [dy]) => [
      dy === null ? null : graph.one('slice_grad', [dy], { ...attributes, shape: graph.shape(x!) }),
    ],
    lower: ({ attributes: { axis, offset, size }, inputs: [x], outputs: [y], shapes }) => {
      const { outer, size: whole, inner } = along(shapes[0]!, axis);
      return [
        copy(x, y, {
          rows: outer,
          columns: size * inner,
          sourceWidth: whole * inner,
          sourceOffset: offset * inner,
          targetWidth: size * inner,
          targetOffset: 0,
        }),
      ];
    },
  }),

  /** dy among zeros of `shape`. */
  slice_grad: defineOp<AttributesOf<'slice_grad'>>({
    shape: ([dy], attributes) => {
      expectEqual(dy!, bandOf(attributes.shape, attributes), 'slice output gradient');
      return [attributes.shape];
    },
    gradient: 'none',
    lower: ({ attributes: { axis, offset, size, shape }, inputs: [dy], outputs: [dx] }) => {
      const { outer, size: whole, inner } = along(shape, axis);
      return [
        { kernel: 'fill', inputs: [], outputs: [dx], params: { count: sizeOf(shape), value: 0 } },
        copy(dy, dx, {
          rows: outer,
          columns: size * inner,
          sourceWidth: size * inner,
          sourceOffset: 0,
          targetWidth: whole * inner,
          targetOffset: offset * inner,
        }),
      ];
    },
  }),

  /** Slices of x along an axis by number; inputs x and indices (u32, any shape, which takes the axis's place). */
  gather: defineOp<AttributesOf<'gather'>>({
    shape: ([x, indices], { axis }) => [gatheredShape(x!, indices!, axis)],
    gradient: (graph, { inputs: [x, indices], attributes: { axis } }, [dy]) => [
      dy === null ? null : graph.one('gather_grad', [dy, indices], { axis, shape: graph.shape(x!) }),
      null,
    ],
    lower: ({ attributes: { axis }, inputs, outputs, shapes: [x, indices] }) => [
      { kernel: 'gather', inputs, outputs, params: { ...along(x!, axis), count: sizeOf(indices!) } },
    ],
  }),

  /** The slices of dy summed where they came from; inputs dy and indices. */
  gather_grad: defineOp<AttributesOf<'gather_grad'>>({
    shape: ([dy, indices], { axis, shape }) => {
      expectEqual(dy!, gatheredShape(shape, indices!, axis), 'gather output gradient');
      return [shape];
    },
    gradient: 'none',
    lower: ({ attributes: { axis, shape }, inputs, outputs, shapes: [, indices] }) => [
      { kernel: 'gather_grad', inputs, outputs, params: { ...along(shape, axis), count: sizeOf(indices!) } },
    ],
  }),
};
