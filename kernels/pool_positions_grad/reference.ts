// Oracle of pool_positions_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { pooledPositions } from '../pool_positions/reference.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { batch, length, width, pool }) => {
  const { dy } = present(inputs);
  const { lengths } = inputs;
  const { dx } = present(outputs);
  dx.fill(0);
  for (let i = 0; i < batch; i++) {
    const { first, end } = pooledPositions(pool, lengths ? lengths[i] : length);
    for (let t = first; t < end; t++) {
      for (let j = 0; j < width; j++) dx[(i * length + t) * width + j] = dy[i * width + j] / (end - first);
    }
  }
};
