// Oracle of tree_loss.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { blockRows, treeLosses } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { scores, targets, constants, job } = present(inputs);
  const { sums } = present(outputs);
  const [from, to] = job;
  const K = params.outputs;
  sums.fill(0, 0, 2 * Math.ceil((to - from) / blockRows));
  for (let row = from; row < to; row++) {
    const weight = inputs.weights?.[targets[row]] ?? 1;
    const at = 2 * Math.floor((row - from) / blockRows);
    sums[at] += weight * lossOf(params.kind, scores.subarray(row * K, (row + 1) * K), targets[row], constants);
    sums[at + 1] += weight;
  }
};

function lossOf(kind: number, scores: Float64Array, target: number, constants: ArrayLike<number>): number {
  const [score] = scores;
  const error = score - target;
  const size = Math.abs(error);
  const [shape, offset, scale] = [constants[0], constants[1], constants[2]];
  switch (kind) {
    case treeLosses.squared:
      return error * error;
    case treeLosses.absolute:
      return size;
    case treeLosses.huber:
      return size <= shape ? 0.5 * error * error : shape * (size - 0.5 * shape);
    case treeLosses.quantile:
      return error * (error >= 0 ? 1 - shape : -shape);
    case treeLosses.poisson:
      return Math.exp(score) - Math.max(0, target * scale + offset) * score;
    case treeLosses.logistic:
      return Math.max(score, 0) - score * target + Math.log1p(Math.exp(-Math.abs(score)));
    default: {
      const most = Math.max(...scores);
      return most + Math.log(scores.reduce((sum, one) => sum + Math.exp(one - most), 0)) - scores[target];
    }
  }
}
