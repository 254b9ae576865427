// Shapes and sizes of the model editor in words.

import { fixed } from '../../lib/format.ts';

/** `3 × 32 × 32` */
export function shapeText(shape: readonly number[]): string {
  return shape.map((size) => fixed(size)).join(' × ');
}

/** Megabytes (10⁶) with one decimal; `<0.1` for less. */
export function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value > 0 && value < 0.05 ? '<0.1' : fixed(value, 1);
}
