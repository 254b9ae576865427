// Oracle of pool_positions.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

/** Positions of a row that are pooled: from `first` to before `end`. */
export function pooledPositions(pool: number, tokens: number): { readonly first: number; readonly end: number } {
  if (pool === 0) return { first: 0, end: tokens };
  return pool === 1 ? { first: 0, end: 1 } : { first: tokens - 1, end: tokens };
}

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { batch, length, width, pool }) => {
  const { x } = present(inputs);
  const { lengths } = inputs;
  const { y } = present(outputs);
  y.fill(0);
  for (let i = 0; i < batch; i++) {
    const { first, end } = pooledPositions(pool, lengths ? lengths[i] : length);
    for (let t = first; t < end; t++) {
      for (let j = 0; j < width; j++) y[i * width + j] += x[(i * length + t) * width + j] / (end - first);
    }
  }
};
