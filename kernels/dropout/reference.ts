// Oracle of dropout.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { threefry2x32 } from '../threefry.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { count, seed, stream } = params;
  const { x, counters } = present(inputs);
  const { scalars } = inputs;
  const rate = scalars ? Math.fround(params.rate * scalars[4 * step + 3]) : params.rate;
  const { y } = present(outputs);
  for (let i = 0; i < count; i += 2) {
    const words = threefry2x32(seed, stream, i >>> 1, counters[step]);
    for (let j = 0; j < 2 && i + j < count; j++) {
      const kept = (words[j] >>> 8) * 2 ** -24 >= rate;
      y[i + j] = kept ? x[i + j] / (1 - rate) : 0;
    }
  }
};
