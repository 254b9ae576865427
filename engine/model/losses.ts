// The losses: for each the op that ends a training step (its kernel computes value and gradient) and the same formula in float64 for
// validation, side by side. Names, words and tasks are the settings' (engine/settings/training.ts), whose names this table is
// typed by: a loss without a rule does not compile. N rows, K classes.

import type { RegressionLossKind } from '../../kernels/regression_loss/kernel.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph/graph.ts';
import type { LossName, OutputSpec, TrainingSpec } from './spec.ts';

/** What a loss is built from. */
export interface LossInputs {
  /** [N,width] */
  readonly prediction: ValueId;
  /** [N,1] class numbers or values, or [N,K] shares of the classes. */
  readonly target: ValueId;
  /** The weights of the classes as a tensor of this shape, or null if they have none. */
  readonly weights: (shape: Shape) => ValueId | null;
  readonly settings: Pick<TrainingSpec, 'labelSmoothing' | 'huberDelta'>;
  /** Capacity of the step tables. */
  readonly steps: number;
}

export interface LossRule {
  /** Outputs of a model that predicts one of `classes` (0 = a number). */
  readonly width: (classes: number) => number;
  /** Appends the loss to a training step and returns its value. */
  readonly build: (graph: GraphBuilder, inputs: LossInputs) => ValueId;
  /** The same in float64: raw `outputs` [N,width], `targets` [N], weights of the classes or null. */
  readonly value: (
    outputs: Float32Array,
    targets: Float32Array,
    settings: Pick<TrainingSpec, 'labelSmoothing' | 'huberDelta'>,
    weights: Float32Array | null,
  ) => number;
}

export const lossRules: Readonly<Record<LossName, LossRule>> = {
  cross_entropy: {
    width: (classes) => classes,
    build: (graph, { prediction, target, weights, settings, steps }) => {
      const classes = graph.shape(prediction)[1];
      const op = graph.shape(target)[1] > 1 ? 'soft_cross_entropy' : 'softmax_cross_entropy';
      const inputs = [prediction, target, weights([classes])];
      return graph.apply(op, inputs, { training: true, smoothing: settings.labelSmoothing, steps })[0];
    },
    value: crossEntropy,
  },
  binary_cross_entropy: {
    width: () => 1,
    build: (graph, { prediction, target, weights, settings, steps }) => {
      const attributes = { training: true, smoothing: settings.labelSmoothing, steps };
      return graph.apply('binary_cross_entropy', [prediction, target, weights([2])], attributes)[0];
    },
    value: binaryCrossEntropy,
  },
  mse: regressionLoss('mse', (error) => error * error),
  mae: regressionLoss('mae', Math.abs),
  huber: regressionLoss('huber', (error, delta) => {
    const size = Math.abs(error);
    return size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta);
  }),
};

/** The loss `auto` stands for. */
export function resolveLoss(loss: 'auto' | LossName, output: Pick<OutputSpec, 'kind'>): LossName {
  if (loss !== 'auto') return loss;
  return output.kind === 'classes' ? 'cross_entropy' : 'mse';
}

/** The mean over all rows of a function of the error. */
function regressionLoss(kind: RegressionLossKind, term: (error: number, delta: number) => number): LossRule {
  return {
    width: () => 1,
    build: (graph, { prediction, target, settings, steps }) => {
      const attributes = { training: true, kind, delta: settings.huberDelta, steps };
      return graph.apply('regression_loss', [prediction, target], attributes)[0];
    },
    value: (outputs, targets, { huberDelta }) => {
      let loss = 0;
      for (let row = 0; row < targets.length; row++) loss += term(outputs[row] - targets[row], huberDelta);
      return loss / targets.length;
    },
  };
}

/** Weighted mean of −Σ q ln softmax, q the target smoothed; of a single output, which is the logit of class 1, as below. */
function crossEntropy(
  outputs: Float32Array,
  targets: Float32Array,
  settings: Pick<TrainingSpec, 'labelSmoothing'>,
  weights: Float32Array | null,
): number {
  const classes = outputs.length / targets.length;
  if (classes === 1) return binaryCrossEntropy(outputs, targets, settings, weights);
  const smoothing = settings.labelSmoothing;
  let loss = 0;
  let weight = 0;
  for (let row = 0; row < targets.length; row++) {
    const target = targets[row];
    const start = row * classes;
    let maximum = -Infinity;
    for (let k = 0; k < classes; k++) maximum = Math.max(maximum, outputs[start + k]);
    let sum = 0;
    for (let k = 0; k < classes; k++) sum += Math.exp(outputs[start + k] - maximum);
    const logSum = maximum + Math.log(sum);
    for (let k = 0; k < classes; k++) {
      const share = (k === target ? 1 - smoothing : 0) + smoothing / classes;
      if (share > 0) loss += (weights ? weights[k] : 1) * share * (logSum - outputs[start + k]);
    }
    weight += weights ? weights[target] : 1;
  }
  return loss / weight;
}

/** Weighted mean of −y ln p − (1 − y) ln(1 − p) from logits, y the target smoothed. */
function binaryCrossEntropy(
  outputs: Float32Array,
  targets: Float32Array,
  { labelSmoothing: smoothing }: Pick<TrainingSpec, 'labelSmoothing'>,
  weights: Float32Array | null,
): number {
  let loss = 0;
  let weight = 0;
  for (let row = 0; row < targets.length; row++) {
    const target = targets[row];
    const z = outputs[row];
    const y = target * (1 - smoothing) + smoothing / 2;
    const w = weights ? weights[target] : 1;
    loss += w * (Math.max(z, 0) - z * y + Math.log1p(Math.exp(-Math.abs(z))));
    weight += w;
  }
  return loss / weight;
}
