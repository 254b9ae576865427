// Oracle of copy_columns.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { rows, columns, sourceWidth, sourceOffset, targetWidth, targetOffset } = params;
  const { x } = present(inputs);
  const { y } = present(outputs);
  for (let row = 0; row < rows; row++) {
    const start = row * sourceWidth + sourceOffset;
    y.set(x.subarray(start, start + columns), row * targetWidth + targetOffset);
  }
};
