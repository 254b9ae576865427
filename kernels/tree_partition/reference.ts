// Oracle of tree_partition.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { blockRows } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { width }) => {
  const { bins, list, goesLeft, job } = present(inputs);
  const { spare, counts } = present(outputs);
  const [from, to, column] = job;
  for (let start = from, block = 0; start < to; start += blockRows, block++) {
    const rows = list.slice(start, Math.min(to, start + blockRows));
    const left = rows.filter((row) => goesLeft[bins[row * width + column]] === 1);
    const right = rows.filter((row) => goesLeft[bins[row * width + column]] === 0);
    spare.set(left, start);
    spare.set(right, start + left.length);
    counts[block] = left.length;
  }
};
