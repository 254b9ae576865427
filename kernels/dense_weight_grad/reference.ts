// Oracle of dense_weight_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (operands, outputs, params) => {
  const { batch, inputs, units } = params;
  const { x, dy } = present(operands);
  const { dw } = present(outputs);
  const { db } = outputs;
  dw.fill(0);
  db?.fill(0);
  for (let row = 0; row < batch; row++) {
    for (let j = 0; j < units; j++) {
      const gradient = dy[row * units + j];
      for (let i = 0; i < inputs; i++) dw[i * units + j] += x[row * inputs + i] * gradient;
      if (db) db[j] += gradient;
    }
  }
};
