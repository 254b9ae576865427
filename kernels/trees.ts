// What the kernels of trees share: codes of losses, sizes of blocks, and values for their parity tests. Gradients and hessians of
// rows are whole numbers of few bits (tree_grid), so sums of them have no order: of a row one 64-bit word is its gradient, the
// other its hessian above a 1 that counts the row. `job` operands hold what differs from call to call.

import type { Operand } from './contract.ts';
import { normalWithOutliers, uniform, whole } from './samples.ts';

/** Losses by their codes. */
export const treeLosses = {
  squared: 0,
  absolute: 1,
  huber: 2,
  quantile: 3,
  poisson: 4,
  logistic: 5,
  softmax: 6,
} as const;
export type TreeLoss = keyof typeof treeLosses;

/**
 * What a loss is made of: scores [rows, outputs], targets [rows], a weight a class, and constants (Huber's delta or the quantile, offset and
 * scale of counts).
 */
export const lossInputs: readonly Operand<'rows' | 'outputs' | 'kind' | 'classes'>[] = [
  {
    name: 'scores',
    shape: (p) => [p.rows, p.outputs],
    type: 'f64',
    sample: (_, random, index) => normalWithOutliers(random, index, 9),
  },
  {
    name: 'targets',
    shape: (p) => [p.rows],
    sample: (p, random) => (p.kind < treeLosses.logistic ? uniform(random, 0, 5) : whole(random, p.classes)),
  },
  {
    name: 'weights',
    shape: (p) => [p.classes],
    type: 'f64',
    optional: true,
    sample: (_, random) => uniform(random, 0.5, 2),
  },
  { name: 'constants', shape: () => [4], type: 'f64', sample: (_p, _, index) => [0.3, 1, 2, 0][index] },
];

/** Positions of a list, or rows, that one thread takes at a time; sums are made block by block. */
export const blockRows = 4096;
export const blocksOf = (rows: number): number => Math.ceil(rows / blockRows);

/** No slot of a histogram. */
export const noSlot = 0xffffffff;

/** LightGBM's `poisson_max_delta_step`. */
export const poissonStep = 0.7;

/** The word of 64 bits whose halves stand at `at`, the lower first. */
export function wordAt(words: ArrayLike<number>, at: number): bigint {
  return BigInt.asIntN(64, (BigInt(words[at + 1]) << 32n) | BigInt(words[at]));
}

export function setWord(words: { [at: number]: number }, at: number, word: bigint): void {
  words[at] = Number(BigInt.asUintN(32, word));
  words[at + 1] = Number(BigInt.asUintN(32, word >> 32n));
}

/** Halves of a row's words for parity tests: a gradient of 23 bits, a hessian of 20 above `countBits` bits with a 1. */
export function sampleHalf(random: () => number, index: number, countBits: number): number {
  const gradient = BigInt(whole(random, 2 ** 24) - 2 ** 23);
  const hessian = (BigInt(whole(random, 2 ** 20)) << BigInt(countBits)) | 1n;
  // The two halves of a gradient are drawn apart: the upper one is 0 or −1, the lower one fits either.
  if (index % 4 === 1) return random() < 0.5 ? 0 : 0xffffffff;
  if (index % 4 === 3) return 0;
  return Number(BigInt.asUintN(32, index % 4 === 0 ? gradient : hessian));
}
