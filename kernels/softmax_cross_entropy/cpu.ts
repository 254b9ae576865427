// AssemblyScript: softmax and cross-entropy in one, with the gradient. Thread 0 alone: the loss needs every row's
// exponentials, and with them the gradient is nearly done; one order of the sums gives one result.

import { codeAt } from '../shared/codes';
import { exp, log, multiplyAdd } from '../shared/math';
import { at, firstLanes, integer, pointer, read, real, sumLanes, write } from '../shared/vectors';

export function softmax_cross_entropy(args: usize, thread: i32, threads: i32, step: i32): void {
  if (thread != 0) return;
  const logits = pointer(args, 0);
  const target = pointer(args, 1);
  const weights = pointer(args, 2);
  const loss = pointer(args, 3);
  const gradient = pointer(args, 4);
  const batch = integer(args, 5);
  const classes = integer(args, 6);
  const smoothing = real(args, 7);

  let totalWeight: f32 = 0;
  for (let i = 0; i < batch; i++) totalWeight += weightOf(weights, codeAt(target, i, classes));
  const spread = smoothing / <f32>classes;
  const spreadSum = smoothing > 0 ? spread * sumOfWeights(weights, classes) : 0;
  let sum: f64 = 0;
  for (let i = 0; i < batch; i++) {
    const row = at(logits, i * classes);
    const label = codeAt(target, i, classes);
    const hard = (<f32>1 - smoothing) * weightOf(weights, label);
    const largest = largestOf(row, classes);
    const rowGradient = gradient != 0 ? at(gradient, i * classes) : 0;
    const total = exponentials(row, classes, largest, rowGradient);
    const logSum = largest + f32x4.extract_lane(log(f32x4.splat(total)), 0);
    sum += <f64>(hard * (logSum - load<f32>(at(row, label))));
    if (smoothing > 0) sum += <f64>(spread * smoothLoss(row, weights, classes, logSum));
    if (gradient == 0) continue;
    scaleRow(rowGradient, classes, (hard + spreadSum) / (total * totalWeight));
    if (smoothing > 0) subtractSpread(rowGradient, weights, classes, spread / totalWeight);
    const wanted = at(rowGradient, label);
    store<f32>(wanted, load<f32>(wanted) - hard / totalWeight);
  }
  store<f32>(at(loss, step), <f32>(sum / <f64>totalWeight));
}

@inline
function weightOf(weights: usize, label: i32): f32 {
  return weights != 0 ? load<f32>(at(weights, label)) : 1;
}

function sumOfWeights(weights: usize, classes: i32): f32 {
  if (weights == 0) return <f32>classes;
  let sum = f32x4.splat(0);
  for (let j = 0; j < classes; j += 4) sum = f32x4.add(sum, read(weights, j, classes - j));
  return sumLanes(sum);
}

function largestOf(row: usize, classes: i32): f32 {
  let largest = f32x4.splat(load<f32>(row));
  for (let j = 0; j < classes; j += 4) {
    largest = f32x4.max(largest, firstLanes(read(row, j, classes - j), classes - j, largest));
  }
  return max(
    max(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  );
}

/** Σ e^(logit − largest); keeps the terms in `kept` if that is not 0. */
function exponentials(row: usize, classes: i32, largest: f32, kept: usize): f32 {
  let sum = f32x4.splat(0);
  for (let j = 0; j < classes; j += 4) {
    const lanes = classes - j;
    const e = exp(f32x4.sub(read(row, j, lanes), f32x4.splat(largest)));
    sum = f32x4.add(sum, firstLanes(e, lanes, f32x4.splat(0)));
    if (kept != 0) write(kept, j, e, lanes);
  }
  return sumLanes(sum);
}

/** Σ weight·(logSum − logit) over the classes. */
function smoothLoss(row: usize, weights: usize, classes: i32, logSum: f32): f32 {
  let sum = f32x4.splat(0);
  for (let j = 0; j < classes; j += 4) {
    const lanes = classes - j;
    const surprise = f32x4.sub(f32x4.splat(logSum), read(row, j, lanes));
    const weight = weights != 0 ? read(weights, j, lanes) : f32x4.splat(1);
    sum = multiplyAdd(firstLanes(weight, lanes, f32x4.splat(0)), surprise, sum);
  }
  return sumLanes(sum);
}

function scaleRow(row: usize, classes: i32, scale: f32): void {
  for (let j = 0; j < classes; j += 4) {
    write(row, j, f32x4.mul(read(row, j, classes - j), f32x4.splat(scale)), classes - j);
  }
}

/** row ← row − share·weights */
function subtractSpread(row: usize, weights: usize, classes: i32, share: f32): void {
  for (let j = 0; j < classes; j += 4) {
    const lanes = classes - j;
    const weight = weights != 0 ? read(weights, j, lanes) : f32x4.splat(1);
    write(row, j, multiplyAdd(f32x4.splat(-share), weight, read(row, j, lanes)), lanes);
  }
}
