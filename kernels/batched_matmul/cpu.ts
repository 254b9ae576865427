// AssemblyScript: c = scale·op(a)·op(b) for many products. Threads share the products, or where there are fewer of them than
// threads, the wider side of each.

import { gemm } from '../shared/gemm';
import { TILE_COLUMNS, TILE_ROWS } from '../shared/gemm_tile';
import { elementsOf, maskedOffset } from '../shared/sizes';
import { at, integer, pointer, real, scaleRow, shareStart } from '../shared/vectors';

const SIZES = 3;

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
  const products = elementsOf(args, SIZES, 4);

  const whole = products >= threads;
  const first = whole ? shareStart(products, 1, thread, threads) : 0;
  const last = whole ? shareStart(products, 1, thread + 1, threads) : products;
  const splitColumns = n >= m;
  const rowStart = whole || splitColumns ? 0 : shareStart(m, TILE_ROWS, thread, threads);
  const rowEnd = whole || splitColumns ? m : shareStart(m, TILE_ROWS, thread + 1, threads);
  const columnStart = whole || !splitColumns ? 0 : shareStart(n, TILE_COLUMNS, thread, threads);
  const columnEnd = whole || !splitColumns ? n : shareStart(n, TILE_COLUMNS, thread + 1, threads);
  for (let product = first; product < last; product++) {
    const left = at(a, maskedOffset(args, SIZES, 4, aMask, product, m * k));
    const right = at(b, maskedOffset(args, SIZES, 4, bMask, product, k * n));
    const result = at(c, product * m * n);
    gemm(left, transposeA, right, transposeB, 0, result, m, n, k, rowStart, rowEnd, columnStart, columnEnd, false);
    if (scale == 1) continue;
    for (let row = rowStart; row < rowEnd; row++) {
      scaleRow(at(result, row * n + columnStart), columnEnd - columnStart, scale);
    }
  }
}
