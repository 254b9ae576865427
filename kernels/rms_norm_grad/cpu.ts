// AssemblyScript: gradient of root mean square normalisation. Threads share the rows for dx and the columns for dgamma.

import { multiplyAdd } from '../shared/math';
import { at, integer, LINE, pointer, read, shareStart, sumLanes, write } from '../shared/vectors';

export function rms_norm_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const gamma = pointer(args, 2);
  const inverse = pointer(args, 3);
  const dx = pointer(args, 4);
  const dgamma = pointer(args, 5);
  const rows = integer(args, 6);
  const width = integer(args, 7);

  const lastRow = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < lastRow; row++) {
    const start = row * width;
    rowGradient(at(dy, start), at(x, start), gamma, at(dx, start), width, load<f32>(at(inverse, row)));
  }
  const column = shareStart(width, LINE, thread, threads);
  const columns = shareStart(width, LINE, thread + 1, threads) - column;
  const sums = at(dgamma, column);
  memory.fill(sums, 0, (<usize>columns) << 2);
  for (let row = 0; row < rows; row++) {
    const scale = f32x4.splat(load<f32>(at(inverse, row)));
    const start = row * width + column;
    for (let j = 0; j < columns; j += 4) {
      const lanes = columns - j;
      const normalised = f32x4.mul(read(x, start + j, lanes), scale);
      write(sums, j, multiplyAdd(read(dy, start + j, lanes), normalised, read(sums, j, lanes)), lanes);
    }
  }
}

/** dx = scale·(g − x̂·avg(g·x̂)) of one row, g = dy·gamma. */
function rowGradient(dy: usize, x: usize, gamma: usize, dx: usize, width: i32, scale: f32): void {
  const inverse = f32x4.splat(scale);
  let product = f32x4.splat(0);
  for (let j = 0; j < width; j += 4) {
    const lanes = width - j;
    // Lanes past the end are 0 in dy, so they add nothing.
    const g = f32x4.mul(read(dy, j, lanes), read(gamma, j, lanes));
    product = multiplyAdd(g, f32x4.mul(read(x, j, lanes), inverse), product);
  }
  const average = f32x4.splat(sumLanes(product) / <f32>width);
  for (let j = 0; j < width; j += 4) {
    const lanes = width - j;
    const g = f32x4.mul(read(dy, j, lanes), read(gamma, j, lanes));
    const normalised = f32x4.mul(read(x, j, lanes), inverse);
    write(dx, j, f32x4.mul(f32x4.sub(g, f32x4.mul(normalised, average)), inverse), lanes);
  }
}
