// AssemblyScript: sums down four neighbouring columns of a row-major matrix, in the order of the rows. `lanes` are the columns
// left from `column` on.

import { multiplyAdd } from './math';
import { read } from './vectors';

/** Σx a column. */
export function sumColumns(x: usize, rows: i32, width: i32, column: i32, lanes: i32): v128 {
  let sum = f32x4.splat(0);
  for (let row = 0; row < rows; row++) sum = f32x4.add(sum, read(x, row * width + column, lanes));
  return sum;
}

/** Σ(x − center)² a column. */
export function sumSquaredDifferencesColumns(
  x: usize,
  rows: i32,
  width: i32,
  column: i32,
  lanes: i32,
  center: v128,
): v128 {
  let sum = f32x4.splat(0);
  for (let row = 0; row < rows; row++) {
    const difference = f32x4.sub(read(x, row * width + column, lanes), center);
    sum = multiplyAdd(difference, difference, sum);
  }
  return sum;
}
