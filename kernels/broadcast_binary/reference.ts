// Oracle of broadcast_binary.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachElement, maskedStrides, sizesOf } from '../sizes.ts';
import { binaryCodes, type kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { a } = present(inputs);
  const { b } = inputs;
  const { c } = present(outputs);
  const { operation, scale } = params;
  const sizes = sizesOf(params);
  forEachElement(sizes, [maskedStrides(sizes, params.a), maskedStrides(sizes, params.b)], (i, [atA, atB]) => {
    if (!b) c[i] = scale * a[atA];
    else c[i] = operation === binaryCodes.add ? a[atA] + scale * b[atB] : scale * a[atA] * b[atB];
  });
};
