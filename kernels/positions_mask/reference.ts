// Oracle of positions_mask.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { length, inside, outside }) => {
  const { lengths } = present(inputs);
  const { y } = present(outputs);
  for (let i = 0; i < y.length; i++) y[i] = i % length < lengths[Math.floor(i / length)] ? inside : outside;
};
