// AssemblyScript: c = f(op(a)·op(b) + bias), or c = (op(a)·op(b)) ⊙ f′(saved). The wider side of c is split between the
// threads. ReLU is applied while a tile is in registers, everything else in a second pass over a thread's part of c.

import { NONE, RELU } from '../shared/activations';
import { gemm } from '../shared/gemm';
import { applyActivation, applyGradient } from '../shared/gemm_epilogue';
import { TILE_COLUMNS, TILE_ROWS } from '../shared/gemm_tile';
import { at, integer, pointer, real, shareStart } from '../shared/vectors';

export function matmul(args: usize, thread: i32, threads: i32, step: i32): void {
  const a = pointer(args, 0);
  const b = pointer(args, 1);
  const bias = pointer(args, 2);
  const saved = pointer(args, 3);
  const c = pointer(args, 4);
  const m = integer(args, 5);
  const n = integer(args, 6);
  const k = integer(args, 7);
  const transposeA = integer(args, 8) != 0;
  const transposeB = integer(args, 9) != 0;
  const activation = integer(args, 10);
  const slope = f32x4.splat(real(args, 11));
  const gradient = integer(args, 12) != 0;

  const splitColumns = n >= m;
  const rowStart = splitColumns ? 0 : shareStart(m, TILE_ROWS, thread, threads);
  const rowEnd = splitColumns ? m : shareStart(m, TILE_ROWS, thread + 1, threads);
  const columnStart = splitColumns ? shareStart(n, TILE_COLUMNS, thread, threads) : 0;
  const columnEnd = splitColumns ? shareStart(n, TILE_COLUMNS, thread + 1, threads) : n;
  const relu = !gradient && activation == RELU;
  gemm(a, transposeA, b, transposeB, bias, c, m, n, k, rowStart, rowEnd, columnStart, columnEnd, relu);
  if (activation == NONE || relu) return;

  const width = columnEnd - columnStart;
  for (let row = rowStart; row < rowEnd; row++) {
    const first = row * n + columnStart;
    if (gradient) applyGradient(activation, slope, at(c, first), at(saved, first), width);
    else applyActivation(activation, slope, at(c, first), width);
  }
}
