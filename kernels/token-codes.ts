// What the kernels on tokens share: codes as they stand in the rows of a batch, and how many tokens each row has.

import { whole } from './samples.ts';

/** Parameters of a kernel that looks tokens up. `codesWidth`: values of a row; `codesColumn`: where the codes of its text begin. */
export const tokenParams = {
  batch: 'i32',
  length: 'i32',
  vocabulary: 'i32',
  width: 'i32',
  codesWidth: 'i32',
  codesColumn: 'i32',
} as const;

/** A code for a parity test: padding, tokens, and one beyond the vocabulary, so that the clamp is tested too. */
export const sampledCode = (p: Readonly<Record<'vocabulary', number>>, random: () => number): number =>
  whole(random, p.vocabulary + 2);

export const tokenCases = [
  { params: { batch: 1, length: 1, vocabulary: 1, width: 1, codesWidth: 1, codesColumn: 0 } },
  { params: { batch: 4, length: 16, vocabulary: 50, width: 32, codesWidth: 19, codesColumn: 2 } },
  { params: { batch: 3, length: 11, vocabulary: 5, width: 13, codesWidth: 11, codesColumn: 0 } },
  { params: { batch: 2, length: 150, vocabulary: 300, width: 5, codesWidth: 151, codesColumn: 1 } },
];

/** The row of the table for a code, or −1 for padding. */
export const tokenRow = (code: number, vocabulary: number): number => Math.min(code, vocabulary) - 1;

/** `lengths` of a parity test: 1 … length tokens. */
export const sampledLength = (p: Readonly<Record<'length', number>>, random: () => number): number =>
  1 + whole(random, p.length);
