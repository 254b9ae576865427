// Oracle of accumulate.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { count }, step) => {
  const { x, shares } = present(inputs);
  const { sum } = present(outputs);
  const keep = shares[2 * step];
  const share = shares[2 * step + 1];
  for (let i = 0; i < count; i++) sum[i] = (keep === 0 ? 0 : keep * sum[i]) + share * x[i];
};
