// What boosting makes small: for each loss its first score, gradient and hessian by the score, the value of a leaf where that is
// no Newton step, and the mean loss. Scores are [rows, outputs], standardised as the targets are; those of Poisson are logarithms
// of counts. N rows, K outputs.

import type { OutputSpec } from '../../model/spec.ts';
import type { Gradients } from './gradients.ts';

/** Losses of numbers; classes have cross-entropy: of one logit for two of them, else by softmax. */
export type ObjectiveName = 'squared' | 'absolute' | 'huber' | 'quantile' | 'poisson';

export interface ObjectiveSettings {
  readonly objective: 'auto' | ObjectiveName;
  /** Of a target's standard deviations. */
  readonly huberDelta: number;
  /** Of `quantile`. */
  readonly quantile: number;
}

export interface Objective {
  readonly outputs: number;
  /** The best scores that are the same for all rows, [outputs]. */
  first(targets: Float32Array, rows: Uint32Array): Float64Array;
  /** Before the gradients of a round. */
  readonly prepare?: (scores: Float64Array, list: Uint32Array) => void;
  /** By output `k` of all rows in `list`; written at the rows' places. */
  gradients(scores: Float64Array, targets: Float32Array, list: Uint32Array, k: number, into: Gradients): void;
  /** The value of a leaf by what is left of its rows' targets (target − score); absent: that of its sums. */
  readonly leaf?: (left: Float64Array) => number;
  /** The mean over rows from … to − 1. */
  loss(scores: Float64Array, targets: Float32Array, from: number, to: number): number;
  /** Scores as the raw outputs of a model. */
  raw(scores: Float64Array): Float32Array;
}

/** LightGBM's `poisson_max_delta_step`. */
const poissonStep = 0.7;

export function objectiveOf(
  settings: ObjectiveSettings,
  output: OutputSpec,
  weights: ArrayLike<number> | null,
): Objective {
  if (output.kind === 'classes') {
    return output.classes.length > 2 ? softmax(output.classes.length, weights) : logistic(weights);
  }
  switch (settings.objective) {
    case 'auto':
    case 'squared':
      return ofErrors({ slope: (error) => error, loss: (error) => error * error, first: mean });
    case 'absolute':
      return ofErrors({ slope: Math.sign, loss: Math.abs, first: median, leaf: median });
    case 'huber': {
      const delta = settings.huberDelta;
      const slope = (error: number): number => Math.min(delta, Math.max(-delta, error));
      const loss = (error: number): number => {
        const size = Math.abs(error);
        return size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta);
      };
      return ofErrors({ slope, loss, first: median });
    }
    case 'quantile': {
      const share = settings.quantile;
      const at = (values: Float64Array): number => quantileOf(values, share);
      const slope = (error: number): number => (error >= 0 ? 1 - share : -share);
      return ofErrors({ slope, loss: (error) => error * slope(error), first: at, leaf: at });
    }
    case 'poisson':
      return poisson(output.offset, output.scale);
    default:
      return settings.objective satisfies never;
  }
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: Float64Array): number => quantileOf(values, 0.5);

/** Between the two values beside it (Hyndman & Fan 1996, type 7). */
export function quantileOf(values: Float64Array, share: number): number {
  const sorted = values.toSorted();
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/** A loss of the error, score − target. */
function ofErrors(rule: {
  readonly slope: (error: number) => number;
  readonly loss: (error: number) => number;
  readonly first: (targets: Float64Array) => number;
  readonly leaf?: (left: Float64Array) => number;
}): Objective {
  return {
    outputs: 1,
    leaf: rule.leaf,
    first: (targets, rows) => Float64Array.of(rule.first(Float64Array.from(rows, (row) => targets[row]))),
    gradients(scores, targets, list, _k, { gradient, hessian }) {
      for (const row of list) {
        gradient[row] = rule.slope(scores[row] - targets[row]);
        hessian[row] = 1;
      }
    },
    loss(scores, targets, from, to) {
      let sum = 0;
      for (let row = from; row < to; row++) sum += rule.loss(scores[row] - targets[row]);
      return sum / (to - from);
    },
    raw: (scores) => Float32Array.from(scores),
  };
}

function poisson(offset: number, scale: number): Objective {
  // Standardised counts come back as they were but for the last bits.
  const count = (target: number): number => Math.max(0, target * scale + offset);
  return {
    outputs: 1,
    first(targets, rows) {
      let sum = 0;
      for (const row of rows) sum += count(targets[row]);
      return Float64Array.of(Math.log(Math.max(sum / rows.length, 1e-9)));
    },
    gradients(scores, targets, list, _k, { gradient, hessian }) {
      for (const row of list) {
        const expected = Math.exp(scores[row]);
        gradient[row] = expected - count(targets[row]);
        hessian[row] = expected * Math.exp(poissonStep);
      }
    },
    loss(scores, targets, from, to) {
      let sum = 0;
      for (let row = from; row < to; row++) sum += Math.exp(scores[row]) - count(targets[row]) * scores[row];
      return sum / (to - from);
    },
    raw: (scores) => Float32Array.from(scores, (score) => (Math.exp(score) - offset) / scale),
  };
}

const shares = (targets: Float32Array, rows: Uint32Array, K: number, weights: ArrayLike<number> | null): number[] => {
  const counts = new Array<number>(K).fill(0);
  for (const row of rows) counts[targets[row]] += weights?.[targets[row]] ?? 1;
  const sum = counts.reduce((total, count) => total + count, 0);
  return counts.map((count) => Math.max(count, 0.5) / sum);
};

function logistic(weights: ArrayLike<number> | null): Objective {
  return {
    outputs: 1,
    first(targets, rows) {
      const [zero, one] = shares(targets, rows, 2, weights);
      return Float64Array.of(Math.log(one / zero));
    },
    gradients(scores, targets, list, _k, { gradient, hessian }) {
      for (const row of list) {
        const target = targets[row];
        const weight = weights === null ? 1 : weights[target];
        const p = 1 / (1 + Math.exp(-scores[row]));
        gradient[row] = weight * (p - target);
        hessian[row] = weight * p * (1 - p);
      }
    },
    loss(scores, targets, from, to) {
      let [sum, total] = [0, 0];
      for (let row = from; row < to; row++) {
        const weight = weights?.[targets[row]] ?? 1;
        const score = scores[row];
        sum += weight * (Math.max(score, 0) - score * targets[row] + Math.log1p(Math.exp(-Math.abs(score))));
        total += weight;
      }
      return sum / total;
    },
    raw: (scores) => Float32Array.from(scores),
  };
}

function softmax(K: number, weights: ArrayLike<number> | null): Objective {
  /** Largest score of a row, and the sum of the others' exponentials by it. */
  const sums = (scores: Float64Array, row: number): readonly [number, number] => {
    let most = -Infinity;
    for (let k = 0; k < K; k++) most = Math.max(most, scores[row * K + k]);
    let sum = 0;
    for (let k = 0; k < K; k++) sum += Math.exp(scores[row * K + k] - most);
    return [most, sum];
  };
  // Friedman 2001, equation 32: only K − 1 of the outputs are free.
  const factor = K / (K - 1);
  /** [rows, K] */
  let p = new Float64Array(0);
  return {
    outputs: K,
    first: (targets, rows) => Float64Array.from(shares(targets, rows, K, weights), Math.log),
    prepare(scores, list) {
      if (p.length < scores.length) p = new Float64Array(scores.length);
      for (const row of list) {
        const at = row * K;
        let [most, sum] = [-Infinity, 0];
        for (let k = 0; k < K; k++) most = Math.max(most, scores[at + k]);
        for (let k = 0; k < K; k++) sum += p[at + k] = Math.exp(scores[at + k] - most);
        for (let k = 0; k < K; k++) p[at + k] /= sum;
      }
    },
    gradients(_scores, targets, list, k, { gradient, hessian }) {
      for (const row of list) {
        const weight = weights === null ? 1 : weights[targets[row]];
        const share = p[row * K + k];
        gradient[row] = weight * (share - (targets[row] === k ? 1 : 0));
        hessian[row] = weight * factor * share * (1 - share);
      }
    },
    loss(scores, targets, from, to) {
      let [loss, total] = [0, 0];
      for (let row = from; row < to; row++) {
        const [most, sum] = sums(scores, row);
        const weight = weights?.[targets[row]] ?? 1;
        loss += weight * (most + Math.log(sum) - scores[row * K + targets[row]]);
        total += weight;
      }
      return loss / total;
    },
    raw: (scores) => Float32Array.from(scores),
  };
}
