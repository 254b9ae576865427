// AssemblyScript: what follows the sums of an image: bias, activation, or an activation's derivative. One pass a plane while
// the image is in the cache.

import { NONE, RELU } from './activations';
import { applyActivation, applyGradient } from './gemm_epilogue';
import { at, read, write } from './vectors';

/** y[plane, ·] ← f(y + bias[plane]), or y ⊙ f′(saved), for `planes` planes of `size` elements. `bias` and `saved` may be 0. */
export function finishImage(
  y: usize,
  planes: i32,
  size: i32,
  bias: usize,
  saved: usize,
  activation: i32,
  slope: v128,
): void {
  if (saved != 0) {
    applyGradient(activation, slope, y, saved, planes * size);
    return;
  }
  const relu = activation == RELU;
  if (bias != 0 || relu) {
    for (let plane = 0; plane < planes; plane++) {
      const shift = bias != 0 ? v128.load32_splat(at(bias, plane)) : f32x4.splat(0);
      if (relu) shiftAndClip(at(y, plane * size), size, shift, f32x4.splat(0));
      else shiftAndClip(at(y, plane * size), size, shift, f32x4.splat(-Infinity));
    }
  }
  if (activation != NONE && !relu) applyActivation(activation, slope, y, planes * size);
}

/** y ← max(y + shift, least) */
function shiftAndClip(y: usize, count: i32, shift: v128, least: v128): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) write(y, i, f32x4.max(f32x4.add(read(y, i, 4), shift), least), 4);
  if (i < count) write(y, i, f32x4.max(f32x4.add(read(y, i, count - i), shift), least), count - i);
}
