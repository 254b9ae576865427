// AssemblyScript: softmax and cross-entropy with shares as targets. Thread 0 alone: one order of the sums gives one result.

import { exp, log } from '../shared/math';
import { at, integer, pointer, real } from '../shared/vectors';

export function soft_cross_entropy(args: usize, thread: i32, threads: i32, step: i32): void {
  if (thread != 0) return;
  const logits = pointer(args, 0);
  const target = pointer(args, 1);
  const weights = pointer(args, 2);
  const gradient = pointer(args, 4);
  const batch = integer(args, 5);
  const classes = integer(args, 6);
  const smoothing = real(args, 7);
  const hard = <f32>1 - smoothing;
  const spread = smoothing / <f32>classes;
  let loss: f64 = 0;
  for (let i = 0; i < batch; i++) {
    const row = at(logits, i * classes);
    let largest = load<f32>(row);
    for (let j = 1; j < classes; j++) largest = max(largest, load<f32>(at(row, j)));
    let total: f32 = 0;
    for (let j = 0; j < classes; j++) total += exponential(load<f32>(at(row, j)) - largest);
    const logSum = largest + f32x4.extract_lane(log(f32x4.splat(total)), 0);
    let wantedSum: f32 = 0;
    for (let j = 0; j < classes; j++) {
      const wanted = weightOf(weights, j) * (hard * load<f32>(at(target, i * classes + j)) + spread);
      wantedSum += wanted;
      loss += <f64>(wanted * (logSum - load<f32>(at(row, j))));
    }
    if (gradient == 0) continue;
    for (let j = 0; j < classes; j++) {
      const wanted = weightOf(weights, j) * (hard * load<f32>(at(target, i * classes + j)) + spread);
      const share = exponential(load<f32>(at(row, j)) - largest) / total;
      store<f32>(at(gradient, i * classes + j), (share * wantedSum - wanted) / <f32>batch);
    }
  }
  store<f32>(at(pointer(args, 3), step), <f32>(loss / <f64>batch));
}

@inline
function exponential(x: f32): f32 {
  return f32x4.extract_lane(exp(f32x4.splat(x)), 0);
}

@inline
function weightOf(weights: usize, label: i32): f32 {
  return weights != 0 ? load<f32>(at(weights, label)) : 1;
}
