// AssemblyScript: dropout, eight elements (four counters) at a time. The mask is a pure function of seed, stream, step and
// position, so it does not depend on how threads share the elements.

import { firstWords, secondWords, threefry } from '../shared/threefry';
import { at, integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function dropout(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const counter = load<i32>(at(pointer(args, 1), step));
  const scalars = pointer(args, 2);
  const y = pointer(args, 3);
  const count = integer(args, 4);
  let rate = real(args, 5);
  if (scalars != 0) rate *= load<f32>(at(scalars, 4 * step + 3));
  const threshold = i32x4.splat(<i32>ceil(rate * <f32>16777216));
  const scale = f32x4.splat(1 / (1 - rate));
  const seed = integer(args, 6);
  const stream = integer(args, 7);
  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = shareStart(count, LINE, thread, threads); i < end; i += 8) {
    threefry(seed, stream, i32x4.add(i32x4.splat(i >> 1), i32x4(0, 1, 2, 3)), counter);
    // Words of counter j belong to elements 2j and 2j + 1: interleave.
    const low = v128.shuffle<i32>(firstWords, secondWords, 0, 4, 1, 5);
    const high = v128.shuffle<i32>(firstWords, secondWords, 2, 6, 3, 7);
    const lanes = end - i;
    write(y, i, dropVector(read(x, i, lanes), low, threshold, scale), lanes);
    if (lanes > 4) write(y, i + 4, dropVector(read(x, i + 4, lanes - 4), high, threshold, scale), lanes - 4);
  }
}

/** x·scale where (word>>>8) ≥ threshold = rate·2²⁴, else 0: the comparison of (word>>>8)·2⁻²⁴ with the rate, in whole numbers. */
@inline
function dropVector(x: v128, words: v128, threshold: v128, scale: v128): v128 {
  return v128.and(f32x4.mul(x, scale), i32x4.ge_s(i32x4.shr_u(words, 8), threshold));
}
