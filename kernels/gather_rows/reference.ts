// Oracle of gather_rows.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { width, targets, batch } = params;
  const { x, indices } = present(inputs);
  const { batchX } = present(outputs);
  for (let i = 0; i < batch; i++) {
    const row = indices[step * batch + i];
    batchX.set(x.subarray(row * width, (row + 1) * width), i * width);
    if (inputs.y && outputs.batchY) {
      outputs.batchY.set(inputs.y.subarray(row * targets, (row + 1) * targets), i * targets);
    }
  }
};
