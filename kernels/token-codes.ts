// What the kernels on tokens share: codes as they stand in the rows of a batch, and how many tokens each row has.

import type { Operand } from './contract.ts';
import { whole } from './samples.ts';

/**
 * Parameters of a kernel that looks tokens up. `codesWidth`: values of a row; `codesColumn`: where the codes of its text begin; `pairs`: 1 = a
 * row of the table stands for tokens and what follows them, by `pairRow`; 0 = for a token.
 */
export const tokenParams = {
  batch: 'i32',
  length: 'i32',
  vocabulary: 'i32',
  width: 'i32',
  codesWidth: 'i32',
  codesColumn: 'i32',
  pairs: 'i32',
} as const;

/** A code for a parity test: padding, tokens, and one beyond the vocabulary, so that the clamp is tested too. */
export const sampledCode = (p: Readonly<Record<'vocabulary', number>>, random: () => number): number =>
  whole(random, p.vocabulary + 2);

export const tokenCases = [
  { params: { batch: 1, length: 1, vocabulary: 1, width: 1, codesWidth: 1, codesColumn: 0, pairs: 0 } },
  { params: { batch: 4, length: 16, vocabulary: 50, width: 32, codesWidth: 19, codesColumn: 2, pairs: 0 } },
  { params: { batch: 3, length: 11, vocabulary: 5, width: 13, codesWidth: 11, codesColumn: 0, pairs: 0 } },
  { params: { batch: 2, length: 150, vocabulary: 300, width: 5, codesWidth: 151, codesColumn: 1, pairs: 0 } },
  { params: { batch: 4, length: 16, vocabulary: 50, width: 9, codesWidth: 19, codesColumn: 2, pairs: 1 } },
  { params: { batch: 2, length: 1, vocabulary: 7, width: 4, codesWidth: 3, codesColumn: 1, pairs: 1 } },
];

/** The row of the table for a code, or −1 for padding. */
const tokenRow = (code: number, vocabulary: number): number => Math.min(code, vocabulary) - 1;

/** What the first code of a pair counts for in its sum: a prime, so that the sums of pairs differ; a million of them stay below 2³¹. */
export const pairFactor = 2003;

/** The row of the table for two codes side by side, or −1 where one is padding: several pairs may share one (hashing trick, Weinberger et al. 2009). */
const pairRow = (code: number, next: number, rows: number): number =>
  code === 0 || next === 0 ? -1 : (code * pairFactor + next) % rows;

/** The row of the table for position `t` of row `i` of a batch, or −1 for padding. */
export function rowAt(
  codes: ArrayLike<number>,
  i: number,
  t: number,
  params: Readonly<Record<keyof typeof tokenParams, number>>,
): number {
  const { length, vocabulary, codesWidth, codesColumn, pairs } = params;
  const place = i * codesWidth + codesColumn + t;
  if (pairs === 0) return tokenRow(codes[place], vocabulary);
  return t + 1 < length ? pairRow(codes[place], codes[place + 1], vocabulary) : -1;
}

/** `lengths` of a parity test: 1 … length tokens. */
export const sampledLength = (p: Readonly<Record<'length', number>>, random: () => number): number =>
  1 + whole(random, p.length);

/** Real positions of each row; absent: all are. */
export const lengthsOperand: Operand<'batch' | 'length'> = {
  name: 'lengths',
  shape: (p) => [p.batch],
  optional: true,
  sample: sampledLength,
};
