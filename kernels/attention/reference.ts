// Oracle of attention: whole rows of scores.

import { type AttentionParameters, maskCounters, packedWidth } from '../attention-shape.ts';
import { type ParameterOf, present, type Reference, type ReferenceOperands } from '../contract.ts';
import { threefry2x32 } from '../threefry.ts';
import type { kernel } from './kernel.ts';

/** One query of one head: where it and its keys stand in `qkv`, and how many of them it sees. */
export interface Query {
  readonly row: number;
  readonly head: number;
  readonly position: number;
  readonly q: number;
  /** Place of the first key and value; the next ones are `stride` further. */
  readonly k: number;
  readonly v: number;
  readonly stride: number;
  readonly keys: number;
}

/** Calls `visit` for each query that is no padding. */
export function forEachQuery(
  lengths: Float64Array | null,
  params: AttentionParameters,
  visit: (query: Query) => void,
): void {
  const { batch, length, heads, groups, size, causal } = params;
  const stride = packedWidth(params);
  for (let row = 0; row < batch; row++) {
    const tokens = lengths ? lengths[row] : length;
    for (let head = 0; head < heads; head++) {
      const group = Math.floor((head * groups) / heads);
      const start = row * length * stride;
      for (let position = 0; position < tokens; position++) {
        const q = start + position * stride + head * size;
        const k = start + (heads + group) * size;
        const keys = causal ? position + 1 : tokens;
        visit({ row, head, position, q, k, v: k + groups * size, stride, keys });
      }
    }
  }
}

/** Scores of a query, scaled. */
export function scoresOf(qkv: Float64Array, { q, k, stride, keys }: Query, size: number, scale: number): Float64Array {
  return Float64Array.from({ length: keys }, (_, j) => {
    let sum = 0;
    for (let s = 0; s < size; s++) sum += qkv[q + s] * qkv[k + j * stride + s];
    return scale * sum;
  });
}

/** What the weights of a query are multiplied by, by their keys: 0 where dropped. */
export function maskOf(
  { counters, scalars }: ReferenceOperands,
  { length, heads, rate, seed, stream }: AttentionParameters,
  step: number,
): (query: Query) => ArrayLike<number> {
  if (!counters) return ({ keys }) => new Float64Array(keys).fill(1);
  const share = scalars ? Math.fround(rate * scalars[4 * step + 3]) : rate;
  return ({ row, head, position, keys }) => {
    const first = ((row * heads + head) * length + position) * maskCounters(length);
    const mask = new Float64Array(keys);
    for (let j = 0; j < keys; j += 2) {
      threefry2x32(seed, stream, first + (j >> 1), counters[step]).forEach((word, k) => {
        if ((word >>> 8) * 2 ** -24 >= share) mask[j + k] = 1 / (1 - share);
      });
    }
    return mask;
  };
}

export const reference: Reference<ParameterOf<typeof kernel>> = (
  inputs: ReferenceOperands,
  outputs: ReferenceOperands,
  params,
  step,
) => {
  const { length, heads, size, scale } = params;
  const { qkv } = present(inputs);
  const { y, logsum } = present(outputs);
  y.fill(0);
  logsum.fill(0);
  const masked = maskOf(inputs, params, step);
  forEachQuery(inputs['lengths'], params, (query) => {
    const { row, head, position, v, stride } = query;
    const scores = scoresOf(qkv, query, size, scale);
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const total = scores.reduce((sum, score) => sum + Math.exp(score - largest), 0);
    const mask = masked(query);
    const target = ((row * length + position) * heads + head) * size;
    scores.forEach((score, j) => {
      const weight = (mask[j] * Math.exp(score - largest)) / total;
      for (let s = 0; s < size; s++) y[target + s] += weight * qkv[v + j * stride + s];
    });
    logsum[(row * heads + head) * length + position] = largest + Math.log(total);
  });
};
