// Oracle of unfold_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { batch, length, width, taps, before, dilation } = params;
  const { dy } = present(inputs);
  const { lengths } = inputs;
  const { dx } = present(outputs);
  dx.fill(0);
  for (let i = 0; i < batch; i++) {
    for (let t = 0; t < length; t++) {
      for (let k = 0; k < taps; k++) {
        const position = t - before + k * dilation;
        if (position < 0 || position >= (lengths ? lengths[i] : length)) continue;
        for (let j = 0; j < width; j++) {
          dx[(i * length + position) * width + j] += dy[((i * length + t) * taps + k) * width + j];
        }
      }
    }
  }
};
