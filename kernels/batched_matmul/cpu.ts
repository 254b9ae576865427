// AssemblyScript: c = scale·op(a)·op(b) for many products. Threads share the products, or where there are fewer of them than
// threads, the wider side of each.

import { gemm } from '../shared/gemm';
import { TILE_COLUMNS, TILE_ROWS } from '../shared/gemm_tile';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

const BATCH = 3;

export function batched_matmul(args: usize, thread: i32, threads: i32, step: i32): void {
  const a = pointer(args, 0);
  const b = pointer(args, 1);
  const c = pointer(args, 2);
  const aMask = integer(args, 7);
  const bMask = integer(args, 8);
  const m = integer(args, 9);
  const n = integer(args, 10);
  const k = integer(args, 11);
  const transposeA = integer(args, 12) != 0;
  const transposeB = integer(args, 13) != 0;
  const scale = real(args, 14);
  let products = 1;
  for (let dimension = 0; dimension < 4; dimension++) products *= integer(args, BATCH + <usize>dimension);

  const whole = products >= threads;
  const first = whole ? shareStart(products, 1, thread, threads) : 0;
  const last = whole ? shareStart(products, 1, thread + 1, threads) : products;
  const splitColumns = n >= m;
  const rowStart = whole || splitColumns ? 0 : shareStart(m, TILE_ROWS, thread, threads);
  const rowEnd = whole || splitColumns ? m : shareStart(m, TILE_ROWS, thread + 1, threads);
  const columnStart = whole || !splitColumns ? 0 : shareStart(n, TILE_COLUMNS, thread, threads);
  const columnEnd = whole || !splitColumns ? n : shareStart(n, TILE_COLUMNS, thread + 1, threads);
  for (let product = first; product < last; product++) {
    const left = at(a, batchOf(args, aMask, product) * m * k);
    const right = at(b, batchOf(args, bMask, product) * k * n);
    const result = at(c, product * m * n);
    gemm(left, transposeA, right, transposeB, 0, result, m, n, k, rowStart, rowEnd, columnStart, columnEnd, false);
    if (scale == 1) continue;
    for (let row = rowStart; row < rowEnd; row++) {
      multiply(at(result, row * n + columnStart), columnEnd - columnStart, scale);
    }
  }
}

/** Which matrix of an operand that has the dimensions of `mask` takes part in a product. */
function batchOf(args: usize, mask: i32, product: i32): i32 {
  let batch = 0;
  let step = 1;
  for (let dimension = 3; dimension >= 0; dimension--) {
    const size = integer(args, BATCH + <usize>dimension);
    if (size == 1) continue;
    const index = product % size;
    product /= size;
    if ((mask & (1 << dimension)) == 0) continue;
    batch += index * step;
    step *= size;
  }
  return batch;
}

function multiply(x: usize, count: i32, scale: f32): void {
  const factor = f32x4.splat(scale);
  for (let i = 0; i < count; i += 4) write(x, i, f32x4.mul(read(x, i, count - i), factor), count - i);
}
