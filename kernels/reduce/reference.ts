// Oracle of reduce.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachElement, maskedStrides, sizesOf } from '../sizes.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  const sizes = sizesOf(params);
  y.fill(0);
  forEachElement(sizes, [maskedStrides(sizes, params.kept)], (i, [at]) => (y[at] += x[i]));
  for (let i = 0; i < y.length; i++) y[i] *= params.scale;
};
