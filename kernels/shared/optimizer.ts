// AssemblyScript: what the optimizer kernels share.

import { at, read, sumLanes } from './vectors';

/** min(1, clip/(√Σpartials + 1e-6)), the scale of all gradients; 1 without partial sums. Every thread computes it alike. */
export function clipScale(partials: usize, chunks: i32, clip: f32): f32 {
  if (partials == 0) return 1;
  let sum = f32x4.splat(0);
  for (let i = 0; i < chunks; i += 4) sum = f32x4.add(sum, read(partials, i, chunks - i));
  return min<f32>(1, clip / (sqrt<f32>(sumLanes(sum)) + 1e-6));
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
