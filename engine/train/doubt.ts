// Whether a validation loss can be believed. A model that has learnt anything is not ten times worse than one that always gives
// the same answer, unless something went wrong: a device that computes wrong, a step too large, or rows of another kind.

import type { OutputSpec } from '../model/spec.ts';
import { evaluate, type EvaluationSpec } from './metrics.ts';

/** How many times the loss of a constant answer a believable validation loss may be. */
const believable = 10;

/**
 * The loss on `targets` [N] of the best constant answer that the targets themselves allow: shares of the classes, or the mean.
 * `width`: outputs of the model.
 */
export function constantLoss(targets: Float32Array, spec: EvaluationSpec, width: number): number {
  const answer = constantAnswer(targets, spec.output, width);
  const outputs = new Float32Array(targets.length * answer.length);
  for (let row = 0; row < targets.length; row++) outputs.set(answer, row * answer.length);
  return evaluate(outputs, targets, spec).metrics['loss'] ?? NaN;
}

/** Raw outputs [width] (logits, or the standardised value) of the constant answer. */
function constantAnswer(targets: Float32Array, output: OutputSpec, width: number): readonly number[] {
  if (output.kind !== 'classes') return [targets.reduce((sum, value) => sum + value / targets.length, 0)];
  const counts = output.classes.map(() => 1);
  for (const target of targets) counts[target]++;
  const logits = counts.map((count) => Math.log(count));
  return width === 1 ? [logits[1] - logits[0]] : logits;
}

/** Why the validation loss cannot be believed, in one sentence, or null. Losses of the same weights on both splits. */
export function doubtOf(losses: { train: number; validation: number; constant: number }): string | null {
  const { train, validation, constant } = losses;
  if (!Number.isFinite(validation)) return `The validation loss is not a number (${validation}).`;
  if (validation <= believable * constant) return null;
  const [shown, limit] = [validation, constant].map((value) => value.toPrecision(3));
  return `The validation loss is ${shown}, though always giving the same answer would have ${limit} and the training loss is ${train.toPrecision(3)}.`;
}

/** What to do about it. */
export const doubtHint =
  'Do not trust this model. Lower the learning rate, and look whether the validation rows are of another kind; ' +
  '`trainyard devices --check` tells whether this machine computes right.';
