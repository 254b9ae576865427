// Oracle of conv2d_weight_grad.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachProduct, outputShape } from '../convolution.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x, dy } = present(inputs);
  const { dw } = present(outputs);
  const { db } = outputs;
  dw.fill(0);
  forEachProduct(params, (from, weight, to) => (dw[weight] += x[from] * dy[to]));
  if (!db) return;
  const [, filters, height, width] = outputShape(params);
  db.fill(0);
  dy.forEach((gradient, i) => (db[Math.floor(i / (height * width)) % filters] += gradient));
};
