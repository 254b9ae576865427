// Metrics of a split, in float64 on the host, from the model's raw outputs. N rows, K classes.

import type { ClassScore, SplitEvaluation } from '../protocol/evaluation.ts';
import type { LossName, OutputSpec, TrainingSpec } from '../model/spec.ts';
import { resolveLoss } from '../plan/step.ts';
import { areaUnderRoc } from './roc.ts';

export type Evaluation = SplitEvaluation;

export interface EvaluationSpec {
  readonly output: OutputSpec;
  readonly training: Pick<TrainingSpec, 'loss' | 'labelSmoothing' | 'huberDelta'>;
  /** Class weights of the loss, or null. */
  readonly weights: Float32Array | null;
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
  const loss = crossEntropy(outputs, targets, spec, classes);
  const auc = areaUnderRoc(p, targets, classes);
  return {
    metrics: { loss, ...confusionMetrics(confusion), ...(Number.isNaN(auc) ? {} : { roc_auc: auc }) },
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

/** accuracy, balanced accuracy (mean recall) and macro F1 over the classes that occur. */
export function confusionMetrics(confusion: readonly (readonly number[])[]): Readonly<Record<string, number>> {
  let correct = 0;
  let total = 0;
  let recalls = 0;
  let f1s = 0;
  let present = 0;
  confusion.forEach((counts, k) => {
    const actual = counts.reduce((sum, count) => sum + count, 0);
    const predicted = confusion.reduce((sum, row) => sum + row[k], 0);
    correct += counts[k];
    total += actual;
    if (actual === 0) return;
    present++;
    recalls += counts[k] / actual;
    f1s += (2 * counts[k]) / (actual + predicted);
  });
  return { accuracy: correct / total, balanced_accuracy: recalls / present, f1: f1s / present };
}

/** The loss as the kernels define it: weighted mean, label smoothing. */
function crossEntropy(
  outputs: Float32Array,
  targets: Float32Array,
  { training, weights }: EvaluationSpec,
  classes: number,
): number {
  const binary = outputs.length === targets.length;
  const smoothing = training.labelSmoothing;
  let loss = 0;
  let weight = 0;
  for (let row = 0; row < targets.length; row++) {
    const target = targets[row];
    if (binary) {
      const z = outputs[row];
      const y = target * (1 - smoothing) + smoothing / 2;
      const w = weights ? weights[target] : 1;
      loss += w * (Math.max(z, 0) - z * y + Math.log1p(Math.exp(-Math.abs(z))));
      weight += w;
      continue;
    }
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

function evaluateValues(
  outputs: Float32Array,
  targets: Float32Array,
  { training, output }: EvaluationSpec,
  scale: number,
): Evaluation {
  const rows = targets.length;
  const kind = resolveLoss(training.loss, output);
  let mean = 0;
  for (const target of targets) mean += target / rows;
  let squares = 0;
  let absolutes = 0;
  let variance = 0;
  let loss = 0;
  for (let row = 0; row < rows; row++) {
    const error = outputs[row] - targets[row];
    squares += error * error;
    absolutes += Math.abs(error);
    variance += (targets[row] - mean) ** 2;
    loss += pointLoss(kind, error, training.huberDelta);
  }
  const metrics = { loss: loss / rows, mae: (scale * absolutes) / rows, rmse: scale * Math.sqrt(squares / rows) };
  return { metrics: variance > 0 ? { ...metrics, r2: 1 - squares / variance } : metrics };
}

function pointLoss(kind: LossName, error: number, delta: number): number {
  const size = Math.abs(error);
  if (kind === 'mae') return size;
  if (kind === 'huber') return size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta);
  return error * error;
}
