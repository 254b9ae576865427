// AssemblyScript: the losses of boosting by their codes (kernels/trees.ts), a row at a time.

import { at64, exponential, larger, lesser, logarithm } from './tree_math';
import { at } from './vectors';

export const SQUARED = 0;
export const ABSOLUTE = 1;
export const HUBER = 2;
export const QUANTILE = 3;
export const POISSON = 4;
export const LOGISTIC = 5;
export const SOFTMAX = 6;

/** e^0.7: LightGBM's longer steps of Poisson. */
const POISSON_STEP: f64 = 2.0137527074704766;

/** The first and second derivative of the row last asked for. */
export let slope: f64 = 0;
export let curve: f64 = 1;

/** What a row counts for. */
@inline
export function weightOf(weights: usize, targets: usize, row: i32): f64 {
  return weights == 0 ? 1 : load<f64>(at64(weights, <i32>load<f32>(at(targets, row))));
}

@inline
function countOf(target: f64, constants: usize): f64 {
  return larger(0, target * load<f64>(constants, 16) + load<f64>(constants, 8));
}

/** Derivatives by the score of a loss with one output. */
@inline
export function derive(kind: i32, score: f64, target: f64, constants: usize): void {
  const error = score - target;
  const shape = load<f64>(constants);
  curve = 1;
  if (kind == SQUARED) slope = error;
  else if (kind == ABSOLUTE) slope = error > 0 ? 1 : error < 0 ? -1 : 0;
  else if (kind == HUBER) slope = lesser(shape, larger(-shape, error));
  else if (kind == QUANTILE) slope = error >= 0 ? 1 - shape : -shape;
  else if (kind == POISSON) {
    const expected = exponential(score);
    slope = expected - countOf(target, constants);
    curve = expected * POISSON_STEP;
  } else {
    const p = 1 / (1 + exponential(-score));
    slope = p - target;
    curve = p * (1 - p);
  }
}

/** Derivatives by one of several scores, by its share. */
@inline
export function deriveShare(share: f64, isTarget: bool, outputs: i32): void {
  const factor = <f64>outputs / <f64>(outputs - 1);
  slope = share - (isTarget ? 1.0 : 0.0);
  curve = factor * share * (1 - share);
}

/** Shares of the classes by their scores. */
export function shareOut(scores: usize, shares: usize, outputs: i32): void {
  let most = load<f64>(scores);
  for (let k = 1; k < outputs; k++) most = larger(most, load<f64>(at64(scores, k)));
  let sum: f64 = 0;
  for (let k = 0; k < outputs; k++) {
    const part = exponential(load<f64>(at64(scores, k)) - most);
    store<f64>(at64(shares, k), part);
    sum += part;
  }
  for (let k = 0; k < outputs; k++) store<f64>(at64(shares, k), load<f64>(at64(shares, k)) / sum);
}

/** The loss of a row with its scores. */
export function lossOf(kind: i32, scores: usize, outputs: i32, target: f64, constants: usize): f64 {
  const score = load<f64>(scores);
  const error = score - target;
  const size = abs(error);
  const shape = load<f64>(constants);
  if (kind == SQUARED) return error * error;
  if (kind == ABSOLUTE) return size;
  if (kind == HUBER) return size <= shape ? 0.5 * error * error : shape * (size - 0.5 * shape);
  if (kind == QUANTILE) return error * (error >= 0 ? 1 - shape : -shape);
  if (kind == POISSON) return exponential(score) - countOf(target, constants) * score;
  if (kind == LOGISTIC) return larger(score, 0) - score * target + logarithm(1 + exponential(-abs(score)));
  let most = score;
  for (let k = 1; k < outputs; k++) most = larger(most, load<f64>(at64(scores, k)));
  let sum: f64 = 0;
  for (let k = 0; k < outputs; k++) sum += exponential(load<f64>(at64(scores, k)) - most);
  return most + logarithm(sum) - load<f64>(at64(scores, <i32>target));
}
