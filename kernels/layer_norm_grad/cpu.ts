// AssemblyScript: gradient of layer normalisation. Threads share the rows for dx, and the columns for dgamma and dbeta, which
// need nothing of dx: so no barrier is needed between the two.

import { multiplyAdd } from '../shared/math';
import { at, integer, LINE, pointer, read, shareStart, sumLanes, write } from '../shared/vectors';

export function layer_norm_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const gamma = pointer(args, 2);
  const mean = pointer(args, 3);
  const inverseDeviation = pointer(args, 4);
  const dx = pointer(args, 5);
  const dgamma = pointer(args, 6);
  const dbeta = pointer(args, 7);
  const rows = integer(args, 8);
  const width = integer(args, 9);

  const lastRow = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < lastRow; row++) {
    const average = load<f32>(at(mean, row));
    const scale = load<f32>(at(inverseDeviation, row));
    const start = row * width;
    rowGradient(at(dy, start), at(x, start), gamma, at(dx, start), width, average, scale);
  }
  const column = shareStart(width, LINE, thread, threads);
  const columns = shareStart(width, LINE, thread + 1, threads) - column;
  memory.fill(at(dgamma, column), 0, (<usize>columns) << 2);
  memory.fill(at(dbeta, column), 0, (<usize>columns) << 2);
  for (let row = 0; row < rows; row++) {
    const start = row * width + column;
    const average = load<f32>(at(mean, row));
    const scale = load<f32>(at(inverseDeviation, row));
    addParameterGradient(at(dy, start), at(x, start), at(dgamma, column), at(dbeta, column), columns, average, scale);
  }
}

/** dgamma += dy·x̂ and dbeta += dy for `count` columns of a row. */
function addParameterGradient(
  dy: usize,
  x: usize,
  dgamma: usize,
  dbeta: usize,
  count: i32,
  average: f32,
  scale: f32,
): void {
  for (let j = 0; j < count; j += 4) {
    const lanes = count - j;
    const g = read(dy, j, lanes);
    const normalised = f32x4.mul(f32x4.sub(read(x, j, lanes), f32x4.splat(average)), f32x4.splat(scale));
    write(dgamma, j, multiplyAdd(g, normalised, read(dgamma, j, lanes)), lanes);
    write(dbeta, j, f32x4.add(read(dbeta, j, lanes), g), lanes);
  }
}

/** dx = scale·(g − avg(g) − x̂·avg(g·x̂)) of one row, g = dy·gamma. */
function rowGradient(dy: usize, x: usize, gamma: usize, dx: usize, width: i32, average: f32, scale: f32): void {
  const mean = f32x4.splat(average);
  const inverse = f32x4.splat(scale);
  let sum = f32x4.splat(0);
  let product = f32x4.splat(0);
  for (let j = 0; j < width; j += 4) {
    const lanes = width - j;
    // Lanes past the end are 0 in dy, so they add nothing.
    const g = f32x4.mul(read(dy, j, lanes), read(gamma, j, lanes));
    sum = f32x4.add(sum, g);
    product = multiplyAdd(g, f32x4.mul(f32x4.sub(read(x, j, lanes), mean), inverse), product);
  }
  const averageGradient = f32x4.splat(sumLanes(sum) / <f32>width);
  const averageProduct = f32x4.splat(sumLanes(product) / <f32>width);
  for (let j = 0; j < width; j += 4) {
    const lanes = width - j;
    const g = f32x4.mul(read(dy, j, lanes), read(gamma, j, lanes));
    const normalised = f32x4.mul(f32x4.sub(read(x, j, lanes), mean), inverse);
    const centred = f32x4.sub(f32x4.sub(g, averageGradient), f32x4.mul(normalised, averageProduct));
    write(dx, j, f32x4.mul(centred, inverse), lanes);
  }
}
