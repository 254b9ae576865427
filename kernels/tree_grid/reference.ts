// Oracle of tree_grid.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { blockRows, setWord } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs) => {
  const { list, pairs, maxima, job } = present(inputs);
  const { packed, steps } = present(outputs);
  const [count, gradientBits, hessianBits, countBits] = job;
  const blocks = Math.ceil(count / blockRows);
  const stepOf = (j: number, bits: number): number => {
    let largest = 0;
    for (let block = 0; block < blocks; block++) largest = Math.max(largest, maxima[2 * block + j]);
    if (largest === 0) return 1;
    let power = 2 ** Math.floor(Math.log2(largest));
    while (power < largest) power *= 2;
    return power / 2 ** bits;
  };
  steps[0] = stepOf(0, gradientBits);
  steps[1] = stepOf(1, hessianBits);
  for (let i = 0; i < count; i++) {
    const row = list[i];
    setWord(packed, 4 * row, BigInt(rounded(pairs[2 * row] / steps[0])));
    setWord(packed, 4 * row + 2, (BigInt(rounded(pairs[2 * row + 1] / steps[1])) << BigInt(countBits)) + 1n);
  }
};

/** To the nearest whole number, ties to even. */
const rounded = (value: number): number => value + 1.5 * 2 ** 52 - 1.5 * 2 ** 52;
