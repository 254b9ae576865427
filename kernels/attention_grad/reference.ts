// Oracle of attention_grad.

import { forEachQuery, maskOf, scoresOf } from '../attention/reference.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { length, heads, size, scale } = params;
  const { dy, qkv, y, logsum } = present(inputs);
  const { dqkv } = present(outputs);
  dqkv.fill(0);
  const masked = maskOf(inputs, params, step);
  forEachQuery(inputs['lengths'], params, (query) => {
    const { row, head, position, q, k, v, stride } = query;
    const own = ((row * length + position) * heads + head) * size;
    const mask = masked(query);
    let delta = 0;
    for (let s = 0; s < size; s++) delta += dy[own + s] * y[own + s];
    scoresOf(qkv, query, size, scale).forEach((score, j) => {
      const weight = Math.exp(score - logsum[(row * heads + head) * length + position]);
      let slope = 0;
      for (let s = 0; s < size; s++) slope += dy[own + s] * qkv[v + j * stride + s];
      const dScore = scale * weight * (mask[j] * slope - delta);
      for (let s = 0; s < size; s++) {
        dqkv[v + j * stride + s] += mask[j] * weight * dy[own + s];
        dqkv[q + s] += dScore * qkv[k + j * stride + s];
        dqkv[k + j * stride + s] += dScore * qkv[q + s];
      }
    });
  });
};
