// AssemblyScript: binary cross-entropy with logits, and its gradient. Thread 0 alone: a batch has one logit a row, and one
// order of the sum gives one result.

import { logOnePlus, exp } from '../shared/math';
import { at, firstLanes, integer, pointer, read, real, sumLanes, write } from '../shared/vectors';

export function binary_cross_entropy(args: usize, thread: i32, threads: i32, step: i32): void {
  if (thread != 0) return;
  const logits = pointer(args, 0);
  const target = pointer(args, 1);
  const weights = pointer(args, 2);
  const loss = pointer(args, 3);
  const gradient = pointer(args, 4);
  const batch = integer(args, 5);
  const smoothing = real(args, 6);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const keep = f32x4.splat(1 - smoothing);
  const base = f32x4.splat(smoothing / 2);
  const weight0 = f32x4.splat(weights != 0 ? load<f32>(weights) : 1);
  const weight1 = f32x4.splat(weights != 0 ? load<f32>(weights, 4) : 1);

  let totalWeight = zero;
  for (let i = 0; i < batch; i += 4) {
    totalWeight = f32x4.add(totalWeight, weightOf(read(target, i, batch - i), weight0, weight1, batch - i));
  }
  const total = sumLanes(totalWeight);
  const share = f32x4.splat(1 / total);
  let sum = zero;
  for (let i = 0; i < batch; i += 4) {
    const lanes = batch - i;
    const z = read(logits, i, lanes);
    const t = read(target, i, lanes);
    const wanted = f32x4.add(f32x4.mul(t, keep), base);
    const weight = weightOf(t, weight0, weight1, lanes);
    const e = exp(f32x4.neg(f32x4.abs(z)));
    const value = f32x4.add(f32x4.sub(f32x4.max(z, zero), f32x4.mul(z, wanted)), logOnePlus(e));
    sum = f32x4.add(sum, f32x4.mul(weight, value));
    if (gradient == 0) continue;
    // sigmoid(z) = 1/(1 + e) for z ≥ 0, e/(1 + e) below.
    const probability = f32x4.div(v128.bitselect(one, e, f32x4.ge(z, zero)), f32x4.add(one, e));
    write(gradient, i, f32x4.mul(f32x4.mul(weight, share), f32x4.sub(probability, wanted)), lanes);
  }
  store<f32>(at(loss, step), sumLanes(sum) / total);
}

/** Weight of each row's class, 0 past the end of the batch. */
@inline
function weightOf(target: v128, weight0: v128, weight1: v128, lanes: i32): v128 {
  const weight = v128.bitselect(weight1, weight0, f32x4.ge(target, f32x4.splat(0.5)));
  return firstLanes(weight, lanes, f32x4.splat(0));
}
