// AssemblyScript: what the optimizer kernels share.

import { at, read, sumLanes, write } from './vectors';

/** Of `scaling` (kernels/loss_scale): the factor of gradients, 0 where the step is skipped, and the first bias correction. */
const FACTOR = 2;
const CORRECTION = 3;

/** The gradients of a scaled loss are beyond 16 bits: the step leaves everything as it is. */
@inline
export function isSkipped(scaling: usize): bool {
  return scaling != 0 && load<f32>(at(scaling, FACTOR)) == 0;
}

/**
 * The scale of all gradients: factor·min(1, clip/(factor·√Σpartials + 1e-6)), without partial sums the factor alone; that is 1
 * without `scaling`. Every thread computes it alike.
 */
export function gradientScale(scaling: usize, partials: usize, chunks: i32, clip: f32): f32 {
  const factor: f32 = scaling == 0 ? 1 : load<f32>(at(scaling, FACTOR));
  if (partials == 0) return factor;
  let sum = f32x4.splat(0);
  for (let i = 0; i < chunks; i += 4) sum = f32x4.add(sum, read(partials, i, chunks - i));
  return factor * min<f32>(1, clip / (factor * sqrt<f32>(sumLanes(sum)) + 1e-6));
}

/** Bias correction 1 or 2 of a step: where steps may be skipped, that of those that were not. */
@inline
export function biasCorrection(scaling: usize, scalars: usize, step: i32, index: i32): f32 {
  return scaling == 0 ? stepScalar(scalars, step, index) : load<f32>(at(scaling, CORRECTION - 1 + index));
}

/** One of the step's four scalars: 0 learning rate, 1 and 2 bias corrections, 3 share of what is scheduled. */
@inline
export function stepScalar(scalars: usize, step: i32, index: i32): f32 {
  return load<f32>(at(scalars, 4 * step + index));
}

/** `decay` in the first `lanes` lanes, 0 in the others: weight decay ends at an element. */
@inline
export function decayLanes(decay: v128, lanes: i32): v128 {
  return v128.and(decay, i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(lanes)));
}

/** Writes the parameters from `start` to before `end` a second time, if there is a place for them. */
export function writeCopies(copies: usize, parameters: usize, start: i32, end: i32): void {
  if (copies == 0) return;
  for (let i = start; i < end; i += 4) write(copies, i, read(parameters, i, end - i), end - i);
}
