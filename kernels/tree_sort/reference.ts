// Oracle of tree_sort.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { rows }) => {
  const { counts, job } = present(inputs);
  const { values } = present(outputs);
  for (let column = 0; column < job[0]; column++) {
    values.subarray(column * rows, column * rows + counts[column]).sort();
  }
};
