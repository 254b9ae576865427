// AssemblyScript: dropout of the weights of attention (../attention-shape.ts): factors of a query's weights, 0 where dropped.

import { firstWords, secondWords, threefry } from './threefry';
import { at, integer, pointer, real, write } from './vectors';

/** Whether weights are dropped. The call: globals, since each thread has an instance of its own. */
export let dropping: bool = false;
let length: i32 = 0;
let seed: i32 = 0;
let stream: i32 = 0;
let counter: i32 = 0;
let threshold: i32 = 0;
let factor: f32 = 0;

/** Reads the call: counters and scalars are the operands from `operand` on; rate, seed and stream the parameters from `rate` on. */
export function beginDropping(args: usize, operand: i32, rate: i32, positions: i32, step: i32): void {
  const counters = pointer(args, operand);
  dropping = counters != 0;
  if (!dropping) return;
  const scalars = pointer(args, operand + 1);
  let share = real(args, rate);
  if (scalars != 0) share *= load<f32>(at(scalars, 4 * step + 3));
  length = positions;
  seed = integer(args, rate + 1);
  stream = integer(args, rate + 2);
  counter = load<i32>(at(counters, step));
  threshold = <i32>ceil(share * <f32>16777216);
  factor = 1 / (1 - share);
}

/**
 * Writes the factors for the keys from `key`, an even number, on: eight at a time, so that there has to be room for a multiple of
 * eight. `query`: its number among those of all rows and heads.
 */
export function drawFactors(query: i32, key: i32, keys: i32, factors: usize): void {
  const first = query * ((length + 1) >> 1) + (key >> 1);
  const least = i32x4.splat(threshold);
  const kept = f32x4.splat(factor);
  for (let j = 0; j < keys; j += 8) {
    threefry(seed, stream, i32x4.add(i32x4.splat(first + (j >> 1)), i32x4(0, 1, 2, 3)), counter);
    // Words of a counter belong to two neighbouring keys: interleave.
    const low = v128.shuffle<i32>(firstWords, secondWords, 0, 4, 1, 5);
    const high = v128.shuffle<i32>(firstWords, secondWords, 2, 6, 3, 7);
    write(factors, j, v128.and(kept, i32x4.ge_s(i32x4.shr_u(low, 8), least)), 4);
    write(factors, j + 4, v128.and(kept, i32x4.ge_s(i32x4.shr_u(high, 8), least)), 4);
  }
}
