// AssemblyScript: products of four rows of a batch at once with the recurrent weights, which are read once for the four. Every row's sums are in the
// same order whatever its neighbours.

import { multiplyAdd } from './math';
import { at, read, sumLanes, write } from './vectors';

/** Rows of the batch that go through time together. */
export const GROUP = 4;

/** The position of a step of a row. */
@inline
export function positionOf(step: i32, tokens: i32, reverse: i32): i32 {
  return reverse != 0 ? tokens - 1 - step : step;
}

/** to = to + from[units]·w[units, columns] for four rows; a row of w is `stride` elements. */
export function addProducts(
  from0: usize,
  from1: usize,
  from2: usize,
  from3: usize,
  w: usize,
  stride: i32,
  to0: usize,
  to1: usize,
  to2: usize,
  to3: usize,
  units: i32,
  columns: i32,
): void {
  const bytes = (<usize>stride) << 2;
  let j = 0;
  for (; j + 8 <= columns; j += 8) {
    let sum0 = f32x4.splat(0);
    let sum1 = sum0;
    let sum2 = sum0;
    let sum3 = sum0;
    let more0 = sum0;
    let more1 = sum0;
    let more2 = sum0;
    let more3 = sum0;
    let row = at(w, j);
    for (let k: usize = 0; k < (<usize>units) << 2; k += 4) {
      const left = v128.load(row);
      const right = v128.load(row, 16);
      const x0 = v128.load32_splat(from0 + k);
      const x1 = v128.load32_splat(from1 + k);
      const x2 = v128.load32_splat(from2 + k);
      const x3 = v128.load32_splat(from3 + k);
      sum0 = multiplyAdd(x0, left, sum0);
      more0 = multiplyAdd(x0, right, more0);
      sum1 = multiplyAdd(x1, left, sum1);
      more1 = multiplyAdd(x1, right, more1);
      sum2 = multiplyAdd(x2, left, sum2);
      more2 = multiplyAdd(x2, right, more2);
      sum3 = multiplyAdd(x3, left, sum3);
      more3 = multiplyAdd(x3, right, more3);
      row += bytes;
    }
    add(to0, j, sum0, more0);
    add(to1, j, sum1, more1);
    add(to2, j, sum2, more2);
    add(to3, j, sum3, more3);
  }
  for (; j < columns; j += 4) {
    const lanes = columns - j;
    let sum0 = f32x4.splat(0);
    let sum1 = sum0;
    let sum2 = sum0;
    let sum3 = sum0;
    for (let k = 0; k < units; k++) {
      const left = read(w, k * stride + j, lanes);
      sum0 = multiplyAdd(v128.load32_splat(at(from0, k)), left, sum0);
      sum1 = multiplyAdd(v128.load32_splat(at(from1, k)), left, sum1);
      sum2 = multiplyAdd(v128.load32_splat(at(from2, k)), left, sum2);
      sum3 = multiplyAdd(v128.load32_splat(at(from3, k)), left, sum3);
    }
    write(to0, j, f32x4.add(read(to0, j, lanes), sum0), lanes);
    write(to1, j, f32x4.add(read(to1, j, lanes), sum1), lanes);
    write(to2, j, f32x4.add(read(to2, j, lanes), sum2), lanes);
    write(to3, j, f32x4.add(read(to3, j, lanes), sum3), lanes);
  }
}

@inline
function add(to: usize, j: i32, first: v128, second: v128): void {
  write(to, j, f32x4.add(read(to, j, 4), first), 4);
  write(to, j + 4, f32x4.add(read(to, j + 4, 4), second), 4);
}

/** to = to + from[columns]·wᵀ for four rows, w [units, columns]. */
export function addTurnedProducts(
  from0: usize,
  from1: usize,
  from2: usize,
  from3: usize,
  w: usize,
  to0: usize,
  to1: usize,
  to2: usize,
  to3: usize,
  units: i32,
  columns: i32,
): void {
  for (let k = 0; k < units; k++) {
    const row = at(w, k * columns);
    let sum0 = f32x4.splat(0);
    let sum1 = sum0;
    let sum2 = sum0;
    let sum3 = sum0;
    for (let j = 0; j < columns; j += 4) {
      const lanes = columns - j;
      const weights = read(row, j, lanes);
      sum0 = multiplyAdd(read(from0, j, lanes), weights, sum0);
      sum1 = multiplyAdd(read(from1, j, lanes), weights, sum1);
      sum2 = multiplyAdd(read(from2, j, lanes), weights, sum2);
      sum3 = multiplyAdd(read(from3, j, lanes), weights, sum3);
    }
    store<f32>(at(to0, k), load<f32>(at(to0, k)) + sumLanes(sum0));
    store<f32>(at(to1, k), load<f32>(at(to1, k)) + sumLanes(sum1));
    store<f32>(at(to2, k), load<f32>(at(to2, k)) + sumLanes(sum2));
    store<f32>(at(to3, k), load<f32>(at(to3, k)) + sumLanes(sum3));
  }
}
