// Oracle of unfold.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, width, taps, before, dilation } = params;
  const { x } = present(inputs);
  const { lengths } = inputs;
  const { y } = present(outputs);
  for (let i = 0; i < batch; i++) {
    for (let t = 0; t < length; t++) {
      for (let k = 0; k < taps; k++) {
        const position = t - before + k * dilation;
        const real = position >= 0 && position < (lengths ? lengths[i] : length);
        for (let j = 0; j < width; j++) {
          y[((i * length + t) * taps + k) * width + j] = real ? x[(i * length + position) * width + j] : 0;
        }
      }
    }
  }
};
