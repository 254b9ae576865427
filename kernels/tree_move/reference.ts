// Oracle of tree_move.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { blockRows } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs) => {
  const { spare, counts, job } = present(inputs);
  const { list } = present(outputs);
  const [from, to, , middle] = job;
  let [left, right] = [from, middle];
  for (let start = from, block = 0; start < to; start += blockRows, block++) {
    const end = Math.min(to, start + blockRows);
    list.set(spare.subarray(start, start + counts[block]), left);
    list.set(spare.subarray(start + counts[block], end), right);
    left += counts[block];
    right += end - start - counts[block];
  }
};
