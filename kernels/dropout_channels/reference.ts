// Oracle of dropout_channels.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { threefry2x32 } from '../threefry.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { planes, inner, rate, seed, stream } = params;
  const { x, counters } = present(inputs);
  const { y } = present(outputs);
  for (let plane = 0; plane < planes; plane++) {
    const draw = threefry2x32(seed, stream, plane >>> 1, counters[step])[plane & 1];
    const scale = (draw >>> 8) * 2 ** -24 >= rate ? 1 / (1 - rate) : 0;
    for (let i = plane * inner; i < (plane + 1) * inner; i++) y[i] = x[i] * scale;
  }
};
