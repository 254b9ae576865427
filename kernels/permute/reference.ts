// Oracle of permute.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachElement, sizesOf } from '../sizes.ts';
import { type kernel, stridesOf } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  forEachElement(sizesOf(params), [stridesOf(params)], (i, [at]) => (y[i] = x[at]));
};
