// Oracle of binary_cross_entropy.

import { activate } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { batch, smoothing } = params;
  const { logits, target } = present(inputs);
  const { weights } = inputs;
  const { gradient } = outputs;
  const weightOf = (label: number): number => weights?.[label] ?? 1;
  const totalWeight = target.subarray(0, batch).reduce((sum, label) => sum + weightOf(label), 0);
  let loss = 0;
  for (let i = 0; i < batch; i++) {
    const logit = logits[i];
    const wanted = target[i] * (1 - smoothing) + smoothing / 2;
    const weight = weightOf(target[i]) / totalWeight;
    loss += weight * (Math.max(logit, 0) - logit * wanted + Math.log1p(Math.exp(-Math.abs(logit))));
    if (gradient) gradient[i] = weight * (activate('sigmoid', logit) - wanted);
  }
  present(outputs).loss[step] = loss;
};
