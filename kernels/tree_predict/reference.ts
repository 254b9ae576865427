// Oracle of tree_predict.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { setTest, type kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { bins, list, nodes, masks, roots, values, job } = present(inputs);
  const { scores } = present(outputs);
  const [count, listed, first, trees, output] = job;
  const goesLeft = (test: number, bin: number): boolean =>
    test >= setTest
      ? ((masks[test - setTest + (bin >> 5)] >>> (bin & 31)) & 1) === 1
      : bin <= (test & 0xffff) || bin === test >>> 16;
  for (let i = 0; i < count; i++) {
    const row = listed === 1 ? list[i] : first + i;
    for (let tree = 0; tree < trees; tree++) {
      let node = roots[tree] | 0;
      while (node >= 0) {
        const left = goesLeft(nodes[4 * node + 1], bins[row * params.width + nodes[4 * node]]);
        node = nodes[4 * node + (left ? 2 : 3)] | 0;
      }
      scores[row * params.outputs + ((output + tree) % params.outputs)] += values[~node];
    }
  }
};
