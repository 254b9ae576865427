// What boosting makes small: for each loss its first score, what the kernels tree_gradients and tree_loss know it by, and the value of a leaf
// where that is no Newton step. Scores are [rows, outputs], standardised as the targets are; those of Poisson are logarithms
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
  /** The mean over all rows, by which a model is scored; absent: a loss of networks is that. */
  readonly loss?: (scores: Float64Array, targets: Float32Array) => number;
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
      return ofErrors('squared', 0, { first: mean });
    case 'absolute':
      return ofErrors('absolute', 0, { first: median, leaf: median });
    case 'huber':
      return ofErrors('huber', settings.huberDelta, { first: median });
    case 'quantile': {
      const share = settings.quantile;
      const at = (values: Float64Array): number => quantileOf(values, share);
      const slope = (error: number): number => (error >= 0 ? 1 - share : -share);
      const loss = (scores: Float64Array, targets: Float32Array): number =>
        mean(scores.map((score, row) => (score - targets[row]) * slope(score - targets[row])));
      return { ...ofErrors('quantile', share, { first: at, leaf: at }), loss };
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
    readonly first: (targets: Float64Array) => number;
    readonly leaf?: (left: Float64Array) => number;
  },
): Objective {
  return {
    outputs: 1,
    device: { name, classes: 1, weights: null, constants: [shape, 0, 1] },
    leaf: rule.leaf,
    first: (targets, rows) => Float64Array.of(rule.first(Float64Array.from(rows, (row) => targets[row]))),
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
    loss: (scores, targets) => mean(scores.map((score, row) => Math.exp(score) - count(targets[row]) * score)),
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
    raw: (scores) => Float32Array.from(scores),
  };
}

function softmax(K: number, weights: ArrayLike<number> | null): Objective {
  return {
    outputs: K,
    device: { name: 'softmax', classes: K, weights, constants: [0, 0, 1] },
    first: (targets, rows) => Float64Array.from(shares(targets, rows, K, weights), Math.log),
    raw: (scores) => Float32Array.from(scores),
  };
}
