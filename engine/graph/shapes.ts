// Arithmetic of shapes: broadcasting, axes, and joining neighbouring dimensions so that kernels of at most six see tensors of any
// rank.

import { maskOf, mostDimensions } from '../../kernels/sizes.ts';
import { GraphError, formatShape } from './errors.ts';
import type { Shape } from './graph.ts';
import { sizeOf } from './op.ts';

/** The shape two operands have together, as NumPy broadcasts: aligned at the last axis, a size of 1 repeats. */
export function broadcastShape(a: Shape, b: Shape, what: string): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a, b].map((shape) => shape[i - rank + shape.length] ?? 1);
    if (x !== y && x !== 1 && y !== 1) {
      throw new GraphError(`${what}: ${formatShape(a)} and ${formatShape(b)} do not broadcast`);
    }
    return Math.max(x, y);
  });
}

/** Throws GraphError unless `shape` broadcasts to `target`. */
export function expectBroadcasts(shape: Shape, target: Shape, what: string): void {
  const together = broadcastShape(shape, target, what);
  if (!equalShapes(together, target)) {
    throw new GraphError(`${what}: ${formatShape(shape)} does not broadcast to ${formatShape(target)}`);
  }
}

/** Axes of `target` along which `shape` repeats. */
export function repeatedAxes(shape: Shape, target: Shape): readonly number[] {
  const first = target.length - shape.length;
  return target.flatMap((size, axis) => (size > 1 && (shape[axis - first] ?? 1) === 1 ? [axis] : []));
}

/** Throws GraphError for an axis the shape does not have. */
export function checkAxis(shape: Shape, axis: number, what: string): void {
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length) {
    throw new GraphError(`${what}: ${formatShape(shape)} has no axis ${axis}`);
  }
}

/** Whether two shapes are the same. */
export const equalShapes = (a: Shape, b: Shape): boolean => a.join() === b.join();

/** A tensor as rows of its last axis. Throws GraphError if it has none. */
export function rowsOf(shape: Shape | null, what: string): { readonly rows: number; readonly width: number } {
  if (!shape || shape.length < 1) throw new GraphError(`${what} needs at least one dimension`);
  return { rows: sizeOf(shape.slice(0, -1)), width: shape[shape.length - 1] };
}

/** Sizes with neighbours joined, and for each operand which of them it has. */
export interface Joined {
  readonly sizes: readonly number[];
  /** A bit a dimension, as kernels/sizes.ts counts them after padding with ones in front. */
  readonly masks: readonly number[];
}

/**
 * Joins the neighbouring axes of `shape` that the same operands have. `has(axis)` tells for each operand whether it does. Throws
 * GraphError if more than six are left.
 */
export function joinAxes(shape: Shape, has: (axis: number) => readonly boolean[], what: string): Joined {
  const sizes: number[] = [];
  const owners: (readonly boolean[])[] = [];
  shape.forEach((size, axis) => {
    if (size === 1) return;
    const own = has(axis);
    if (owners.at(-1)?.join() === own.join()) sizes[sizes.length - 1] *= size;
    else {
      sizes.push(size);
      owners.push(own);
    }
  });
  if (sizes.length > mostDimensions) {
    throw new GraphError(`${what} of ${formatShape(shape)} needs ${sizes.length} dimensions, kernels have six`);
  }
  const operands = has(0).length;
  const masks = Array.from({ length: operands }, (_, operand) => maskOf(owners.map((own) => own[operand])));
  return { sizes, masks };
}

/** Whether `shape`, which broadcasts to `target`, has the axis of `target` itself (and does not repeat along it). */
export function hasAxis(shape: Shape, target: Shape, axis: number): boolean {
  return (shape[axis - target.length + shape.length] ?? 1) === target[axis];
}
