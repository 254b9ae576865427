// What boosting makes small: for each loss its first score, what the kernels tree_gradients and tree_loss know it by, the value of a leaf
// where that is no Newton step, and the mean loss. Scores are [rows, outputs], standardised as the targets are; those of Poisson are logarithms
// of counts. N rows, K outputs.

import type { TreeLoss } from '../../../kernels/trees.ts';
import type { OutputSpec } from '../../model/spec.ts';

/** Losses of numbers; classes have cross-entropy: of one logit for two of them, else by softmax. */
export type ObjectiveName = 'squared' | 'absolute' | 'huber' | 'quantile' | 'poisson';

export interface ObjectiveSettings {
  readonly objective: 'auto' | ObjectiveName;
  /** Of a target's standard deviations. */
  readonly huberDelta: number;
  /** Of `quantile`. */
  readonly quantile: number;
}

/** A loss as kernels take it. */
export interface DeviceLoss {
  readonly name: TreeLoss;
  readonly classes: number;
  /** [classes] */
  readonly weights: ArrayLike<number> | null;
  /** Huber's delta or the quantile; offset and scale of counts. */
  readonly constants: readonly [shape: number, offset: number, scale: number];
}

export interface Objective {
  readonly outputs: number;
  readonly device: DeviceLoss;
  /** The best scores that are the same for all rows, [outputs]. */
  first(targets: Float32Array, rows: Uint32Array): Float64Array;
  /** The value of a leaf by what is left of its rows' targets (target − score); absent: that of its sums. */
  readonly leaf?: (left: Float64Array) => number;
  /** The mean over rows from … to − 1. */
  loss(scores: Float64Array, targets: Float32Array, from: number, to: number): number;
  /** Scores as the raw outputs of a model. */
  raw(scores: Float64Array): Float32Array;
}

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
      return ofErrors('squared', 0, { loss: (error) => error * error, first: mean });
    case 'absolute':
      return ofErrors('absolute', 0, { loss: Math.abs, first: median, leaf: median });
    case 'huber': {
      const delta = settings.huberDelta;
      const loss = (error: number): number => {
        const size = Math.abs(error);
        return size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta);
      };
      return ofErrors('huber', delta, { loss, first: median });
    }
    case 'quantile': {
      const share = settings.quantile;
      const at = (values: Float64Array): number => quantileOf(values, share);
      const slope = (error: number): number => (error >= 0 ? 1 - share : -share);
      return ofErrors('quantile', share, { loss: (error) => error * slope(error), first: at, leaf: at });
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
function ofErrors(
  name: TreeLoss,
  shape: number,
  rule: {
    readonly loss: (error: number) => number;
    readonly first: (targets: Float64Array) => number;
    readonly leaf?: (left: Float64Array) => number;
  },
): Objective {
  return {
    outputs: 1,
    device: { name, classes: 1, weights: null, constants: [shape, 0, 1] },
    leaf: rule.leaf,
    first: (targets, rows) => Float64Array.of(rule.first(Float64Array.from(rows, (row) => targets[row]))),
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
    device: { name: 'poisson', classes: 1, weights: null, constants: [0, offset, scale] },
    first(targets, rows) {
      let sum = 0;
      for (const row of rows) sum += count(targets[row]);
      return Float64Array.of(Math.log(Math.max(sum / rows.length, 1e-9)));
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
    device: { name: 'logistic', classes: 2, weights, constants: [0, 0, 1] },
    first(targets, rows) {
      const [zero, one] = shares(targets, rows, 2, weights);
      return Float64Array.of(Math.log(one / zero));
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
  return {
    outputs: K,
    device: { name: 'softmax', classes: K, weights, constants: [0, 0, 1] },
    first: (targets, rows) => Float64Array.from(shares(targets, rows, K, weights), Math.log),
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
