// What attention and its gradient share. B rows, L positions, H query heads, G key and value heads (H is a multiple of G: a key head
// serves H/G neighbouring query heads), S values a head. A position of `qkv` is H query heads, then G key heads, then G value heads.
//
// Dropout of weights: the weight of query i (of row r and head h) for key j is divided by 1 − rate where word j & 1 of threefry2x32(key
// (seed, stream), counter (((r·H + h)·L + i)·⌈L/2⌉ + (j >> 1) modulo 2³², counters[step])) says so as in dropout, else 0; both ways draw it, so
// that no mask is kept.

import type { Operand } from './contract.ts';
import { word } from './samples.ts';

export const attentionParams = {
  batch: 'i32',
  length: 'i32',
  heads: 'i32',
  groups: 'i32',
  size: 'i32',
  causal: 'i32',
  scale: 'f32',
  rate: 'f32',
  seed: 'i32',
  stream: 'i32',
  steps: 'i32',
} as const;
export type AttentionParameter = keyof typeof attentionParams;
export type AttentionParameters = Readonly<Record<AttentionParameter, number>>;

/** Values of a head at most: what the scratch memory of a thread has room for. */
export const mostHeadSize = 256;

/** Values of a position of qkv. */
export const packedWidth = (p: AttentionParameters): number => (p.heads + 2 * p.groups) * p.size;

export const qkvOperand: Operand<AttentionParameter> = {
  name: 'qkv',
  shape: (p) => [p.batch, p.length, packedWidth(p)],
};

/** Counters of the random numbers, absent where no weights are dropped; with scalars the rate is rate·scalars[step, 3]. */
export const droppingOperands: readonly Operand<AttentionParameter>[] = [
  { name: 'counters', shape: (p) => [p.steps], type: 'u32', optional: true, sample: (_, random) => word(random) },
  { name: 'scalars', shape: (p) => [p.steps, 4], optional: true, sample: (_, random) => random() },
];

/** Counters of the mask of a query: a pair of keys takes one. */
export const maskCounters = (length: number): number => Math.ceil(length / 2);

export function attentionProblem({
  heads,
  groups,
  size,
}: Readonly<Record<'heads' | 'groups' | 'size', number>>): string | null {
  if (heads % groups !== 0) return `${heads} query heads are no multiple of ${groups} key heads`;
  return size > mostHeadSize ? `heads of ${size} values; ${mostHeadSize} at most` : null;
}

/** Multiply-adds of one product of scores with values, over all heads: those that the causal mask leaves. */
export function scoreProducts({ batch, length, heads, size, causal }: AttentionParameters): number {
  return batch * heads * size * (causal ? (length * (length + 1)) / 2 : length * length);
}

const usual = {
  batch: 2,
  length: 16,
  heads: 2,
  groups: 2,
  size: 8,
  causal: 0,
  scale: 0.35,
  rate: 0,
  seed: 0,
  stream: 0,
  steps: 1,
};

/** Odd sizes, one and more tiles, both masks, grouped heads. */
const shapes = [
  { ...usual, batch: 1, length: 1, heads: 1, groups: 1, size: 1, scale: 1 },
  usual,
  { ...usual, batch: 1, length: 13, heads: 3, groups: 3, size: 5 },
  { ...usual, batch: 3, length: 37, heads: 4, groups: 2, size: 12, causal: 1, scale: 0.29 },
  { ...usual, length: 67, heads: 6, groups: 2, size: 32, scale: 0.18 },
  { ...usual, batch: 1, length: 131, heads: 2, groups: 1, size: 17, causal: 1, scale: 0.24 },
  { ...usual, batch: 2, length: 150, heads: 1, groups: 1, size: 64, scale: 0.125 },
  { ...usual, batch: 1, length: 19, heads: 1, groups: 1, size: 130, causal: 1, scale: 0.09 },
];

const dropping = { rate: 0.3, seed: 42, stream: 3 };

/** Each with lengths and without, dropping none; then some that drop. */
export const attentionCases = [
  ...shapes.flatMap((params) => [
    { params, absent: ['counters', 'scalars'] },
    { params, absent: ['lengths', 'counters', 'scalars'] },
  ]),
  { params: { ...shapes[0], ...dropping, rate: 0.5 }, absent: ['scalars'] },
  { params: { ...shapes[2], ...dropping, rate: 0.1, seed: -7 }, absent: ['scalars'] },
  { params: { ...shapes[3], ...dropping, steps: 3 }, step: 2 },
  { params: { ...shapes[4], ...dropping }, absent: ['lengths', 'scalars'] },
  { params: { ...shapes[5], ...dropping, rate: 0.6, steps: 2 }, absent: ['lengths'], step: 1 },
  { params: { ...shapes[6], ...dropping, stream: 0 }, absent: ['scalars'] },
  { params: { ...shapes[7], ...dropping, rate: 0 }, absent: ['scalars'] },
];
