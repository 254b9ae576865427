// Oracle of tree_scores.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { list, ends, values, job } = present(inputs);
  const { scores } = present(outputs);
  const [leaves, output] = job;
  for (let leaf = 0, i = 0; leaf < leaves; leaf++) {
    for (; i < ends[leaf]; i++) scores[list[i] * params.outputs + output] += values[leaf];
  }
};
