// Oracle of soft_cross_entropy.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { batch, classes, smoothing } = params;
  const { logits, target } = present(inputs);
  const { weights } = inputs;
  const { gradient } = outputs;
  let loss = 0;
  for (let i = 0; i < batch; i++) {
    const row = logits.subarray(i * classes, (i + 1) * classes);
    const largest = Math.max(...row);
    const logSum = largest + Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
    const wanted = Array.from(row, (_, label) => {
      const share = (1 - smoothing) * target[i * classes + label] + smoothing / classes;
      return (weights?.[label] ?? 1) * share;
    });
    const wantedSum = wanted.reduce((sum, share) => sum + share, 0);
    for (let label = 0; label < classes; label++) {
      loss += wanted[label] * (logSum - row[label]);
      if (gradient) {
        gradient[i * classes + label] = (Math.exp(row[label] - logSum) * wantedSum - wanted[label]) / batch;
      }
    }
  }
  present(outputs).loss[step] = loss / batch;
};
