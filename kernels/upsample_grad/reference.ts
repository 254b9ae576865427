// Oracle of upsample_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { height, width, factor }) => {
  const { dy } = present(inputs);
  const { dx } = present(outputs);
  const wide = width * factor;
  dx.fill(0);
  dy.forEach((gradient, i) => {
    const row = Math.floor(i / wide);
    const plane = Math.floor(row / (height * factor));
    const to = plane * height + Math.floor((row % (height * factor)) / factor);
    dx[to * width + Math.floor((i % wide) / factor)] += gradient;
  });
};
