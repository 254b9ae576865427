// AssemblyScript: sums down the columns of a row-major matrix, in the order of the rows. For many columns go row by row,
// with the sums so far in memory: the matrix is then read once, from front to back.

import { multiplyAdd } from './math';
import { read, write } from './vectors';

/** Σx of the columns column … column + 3; `lanes` are the columns left from `column` on. */
export function sumColumns(x: usize, rows: i32, width: i32, column: i32, lanes: i32): v128 {
  let sum = f32x4.splat(0);
  for (let row = 0; row < rows; row++) sum = f32x4.add(sum, read(x, row * width + column, lanes));
  return sum;
}

/** sums += x for `count` columns: one row of it. */
export function addRow(sums: usize, x: usize, count: i32): void {
  let j = 0;
  for (; j + 4 <= count; j += 4) write(sums, j, f32x4.add(read(sums, j, 4), read(x, j, 4)), 4);
  if (j < count) write(sums, j, f32x4.add(read(sums, j, count - j), read(x, j, count - j)), count - j);
}

/** sums += (x − centers)² for `count` columns. */
export function addSquaredDifferences(sums: usize, x: usize, centers: usize, count: i32): void {
  for (let j = 0; j < count; j += 4) {
    const lanes = count - j;
    const difference = f32x4.sub(read(x, j, lanes), read(centers, j, lanes));
    write(sums, j, multiplyAdd(difference, difference, read(sums, j, lanes)), lanes);
  }
}
