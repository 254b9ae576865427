// Oracle of upsample.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { height, width, factor }) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  const wide = width * factor;
  y.forEach((_, i) => {
    const row = Math.floor(i / wide);
    const plane = Math.floor(row / (height * factor));
    const from = plane * height + Math.floor((row % (height * factor)) / factor);
    y[i] = x[from * width + Math.floor((i % wide) / factor)];
  });
};
