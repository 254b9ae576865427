// Oracle of tree_bins.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { mostEdges, noNumber, type kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { width }) => {
  const { x, edges, missing, job } = present(inputs);
  const { bins } = present(outputs);
  for (let i = 0; i < job[0] * width; i++) {
    const column = i % width;
    if (missing[column] === noNumber) continue;
    const own = edges.subarray(column * mostEdges, (column + 1) * mostEdges);
    bins[i] = Number.isNaN(x[i]) ? missing[column] : own.filter((edge) => edge < x[i]).length;
  }
};
