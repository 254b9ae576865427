// Oracle of add.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { a, b } = present(inputs);
  const { c } = present(outputs);
  for (let i = 0; i < params.count; i++) c[i] = a[i] + b[i];
};
