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
  const lastColumn = shareStart(width, LINE, thread + 1, threads);
  for (let j = shareStart(width, LINE, thread, threads); j < lastColumn; j += 4) {
    const lanes = lastColumn - j;
    let product = f32x4.splat(0);
    let sum = f32x4.splat(0);
    for (let row = 0; row < rows; row++) {
      const g = read(dy, row * width + j, lanes);
      const average = v128.load32_splat(at(mean, row));
      const scale = v128.load32_splat(at(inverseDeviation, row));
      const normalised = f32x4.mul(f32x4.sub(read(x, row * width + j, lanes), average), scale);
      product = multiplyAdd(g, normalised, product);
      sum = f32x4.add(sum, g);
    }
    write(dgamma, j, product, lanes);
    write(dbeta, j, sum, lanes);
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
