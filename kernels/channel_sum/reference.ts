// Oracle of channel_sum.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { channels, inner }) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  y.fill(0);
  x.forEach((value, i) => (y[Math.floor(i / inner) % channels] += value));
};
