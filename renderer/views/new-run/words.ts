// Shapes and sizes of the model editor in words.

import type { InputSpec } from '../../../engine/model/spec.ts';
import { fixed } from '../../lib/format.ts';

/** `3 × 32 × 32` */
export function shapeText(shape: readonly number[]): string {
  return shape.map((size) => fixed(size)).join(' × ');
}

/** What the layers are fed: `3 × 32 × 32`, `12`, `24 tokens`, `12 + 24 tokens`. `shape`: all of it but the tokens. */
export function inputText(input: InputSpec, shape: readonly number[]): string {
  const texts = input.kind === 'table' ? (input.texts ?? []) : [];
  if (texts.length === 0) return shapeText(shape);
  const tokens = `${fixed(texts.reduce((sum, { length }) => sum + length, 0))} tokens`;
  return shape[0] > 0 ? `${shapeText(shape)} + ${tokens}` : tokens;
}

/** Megabytes (10⁶) with one decimal; `<0.1` for less. */
export function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value > 0 && value < 0.05 ? `<${fixed(0.1, 1)}` : fixed(value, 1);
}
