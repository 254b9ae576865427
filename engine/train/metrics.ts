// Metrics of a split, in float64 on the host, from the model's raw outputs: which there are is in engine/model/metrics.ts and
// losses.ts. N rows, K classes.

import type { ClassScore, SplitEvaluation } from '../protocol/evaluation.ts';
import { lossRules, resolveLoss } from '../model/losses.ts';
import { classMetrics, valueMetrics } from '../model/metrics.ts';
import type { OutputSpec, TrainingSpec } from '../model/spec.ts';

export type Evaluation = SplitEvaluation;

export interface EvaluationSpec {
  readonly output: OutputSpec;
  readonly training: Pick<TrainingSpec, 'loss' | 'labelSmoothing' | 'huberDelta'>;
  /** Class weights of the loss, or null. */
  readonly weights: Float32Array | null;
  /** The mean loss, where it is none that networks train with; `training` is not asked then. */
  readonly ownLoss?: (outputs: Float32Array, targets: Float32Array) => number;
}

/** `outputs` [N, width] raw outputs, `targets` [N]. Empty splits have no metrics. */
export function evaluate(outputs: Float32Array, targets: Float32Array, spec: EvaluationSpec): Evaluation {
  if (targets.length === 0) return { metrics: {} };
  return spec.output.kind === 'classes'
    ? evaluateClasses(outputs, targets, spec, spec.output.classes)
    : evaluateValues(outputs, targets, spec, spec.output.scale);
}

/** Class probabilities [N,K] from raw outputs: softmax, or the sigmoid of one logit as [1−p, p]. */
export function probabilities(outputs: Float32Array, rows: number, classes: number): Float64Array {
  const result = new Float64Array(rows * classes);
  const width = outputs.length / rows;
  for (let row = 0; row < rows; row++) {
    if (width === 1) {
      const p = 1 / (1 + Math.exp(-outputs[row]));
      result[row * 2] = 1 - p;
      result[row * 2 + 1] = p;
      continue;
    }
    let maximum = -Infinity;
    for (let k = 0; k < classes; k++) maximum = Math.max(maximum, outputs[row * classes + k]);
    let sum = 0;
    for (let k = 0; k < classes; k++) sum += Math.exp(outputs[row * classes + k] - maximum);
    for (let k = 0; k < classes; k++) {
      result[row * classes + k] = Math.exp(outputs[row * classes + k] - maximum) / sum;
    }
  }
  return result;
}

/** The most probable class of a row; of equal ones the first. */
export function likeliest(probabilities: Float64Array, row: number, classes: number): number {
  let best = 0;
  for (let k = 1; k < classes; k++) {
    if (probabilities[row * classes + k] > probabilities[row * classes + best]) best = k;
  }
  return best;
}

function evaluateClasses(
  outputs: Float32Array,
  targets: Float32Array,
  spec: EvaluationSpec,
  names: readonly string[],
): Evaluation {
  const rows = targets.length;
  const classes = names.length;
  const p = probabilities(outputs, rows, classes);
  const confusion = Array.from({ length: classes }, () => new Array<number>(classes).fill(0));
  for (let row = 0; row < rows; row++) confusion[targets[row]][likeliest(p, row, classes)]++;
  const loss = lossOf(outputs, targets, spec);
  return {
    metrics: { loss, ...classMetrics({ confusion, probabilities: p, targets }) },
    confusion,
    classes: classScores(confusion, names),
  };
}

/** Precision, recall and F1 of each class. */
export function classScores(
  confusion: readonly (readonly number[])[],
  names: readonly string[],
): readonly ClassScore[] {
  return confusion.map((counts, k) => {
    const rows = counts.reduce((sum, count) => sum + count, 0);
    const predicted = confusion.reduce((sum, row) => sum + row[k], 0);
    return {
      name: names[k],
      rows,
      predicted,
      precision: predicted > 0 ? counts[k] / predicted : null,
      recall: rows > 0 ? counts[k] / rows : null,
      f1: rows + predicted > 0 ? (2 * counts[k]) / (rows + predicted) : null,
    };
  });
}

function evaluateValues(outputs: Float32Array, targets: Float32Array, spec: EvaluationSpec, scale: number): Evaluation {
  const rows = targets.length;
  let mean = 0;
  for (const target of targets) mean += target / rows;
  let squares = 0;
  let absolutes = 0;
  let variance = 0;
  for (let row = 0; row < rows; row++) {
    const error = outputs[row] - targets[row];
    squares += error * error;
    absolutes += Math.abs(error);
    variance += (targets[row] - mean) ** 2;
  }
  const results = { rows, scale, squares, absolutes, variance };
  return { metrics: { loss: lossOf(outputs, targets, spec), ...valueMetrics(results) } };
}

/** The loss as it was trained, in float64. */
function lossOf(outputs: Float32Array, targets: Float32Array, spec: EvaluationSpec): number {
  const { training, output, weights, ownLoss } = spec;
  if (ownLoss) return ownLoss(outputs, targets);
  return lossRules[resolveLoss(training.loss, output)].value(outputs, targets, training, weights);
}
