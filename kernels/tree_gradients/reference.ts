// Oracle of tree_gradients.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { blockRows, poissonStep, treeLosses } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { scores, targets, constants, list, job } = present(inputs);
  const { pairs, maxima } = present(outputs);
  const { kind, outputs: K } = params;
  const [count, k] = job;
  maxima.fill(0, 0, 2 * Math.ceil(count / blockRows));
  for (let i = 0; i < count; i++) {
    const row = list[i];
    const target = targets[row];
    const weight = inputs.weights?.[target] ?? 1;
    const pair =
      kind === treeLosses.softmax
        ? ofSoftmax(
            scores.subarray(row * K, (row + 1) * K),
            outputs.shares!.subarray(row * K, (row + 1) * K),
            target,
            k,
          )
        : ofScore(kind, scores[row], target, constants);
    pair.forEach((one, j) => {
      pairs[2 * row + j] = weight * one;
      const at = 2 * Math.floor(i / blockRows) + j;
      maxima[at] = Math.max(maxima[at], Math.abs(weight * one));
    });
  }
};

function ofScore(kind: number, score: number, target: number, constants: ArrayLike<number>): readonly [number, number] {
  const error = score - target;
  const p = 1 / (1 + Math.exp(-score));
  switch (kind) {
    case treeLosses.squared:
      return [error, 1];
    case treeLosses.absolute:
      return [Math.sign(error), 1];
    case treeLosses.huber:
      return [Math.min(constants[0], Math.max(-constants[0], error)), 1];
    case treeLosses.quantile:
      return [error >= 0 ? 1 - constants[0] : -constants[0], 1];
    case treeLosses.poisson:
      return [
        Math.exp(score) - Math.max(0, target * constants[2] + constants[1]),
        Math.exp(score) * Math.exp(poissonStep),
      ];
    default:
      return [p - target, p * (1 - p)];
  }
}

/** Friedman 2001, equation 32: only K − 1 of the outputs are free. */
function ofSoftmax(scores: Float64Array, shares: Float64Array, target: number, k: number): readonly [number, number] {
  const K = scores.length;
  if (k === 0) {
    const most = Math.max(...scores);
    const sum = scores.reduce((total, score) => total + Math.exp(score - most), 0);
    scores.forEach((score, i) => (shares[i] = Math.exp(score - most) / sum));
  }
  const share = shares[k];
  return [share - (target === k ? 1 : 0), (K / (K - 1)) * share * (1 - share)];
}
