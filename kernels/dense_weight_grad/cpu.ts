// AssemblyScript: dw = xᵀ·dy and db = column sums of dy. The wider side of dw is split between the threads.

import { sumColumns } from '../shared/columns';
import { gemm } from '../shared/gemm';
import { TILE_COLUMNS, TILE_ROWS } from '../shared/gemm_tile';
import { integer, pointer, shareStart, write } from '../shared/vectors';

export function dense_weight_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const dy = pointer(args, 1);
  const dw = pointer(args, 2);
  const db = pointer(args, 3);
  const batch = integer(args, 4);
  const inputs = integer(args, 5);
  const units = integer(args, 6);

  const unitStart = shareStart(units, TILE_COLUMNS, thread, threads);
  const unitEnd = shareStart(units, TILE_COLUMNS, thread + 1, threads);
  if (units >= inputs) {
    gemm(x, true, dy, false, 0, dw, inputs, units, batch, 0, inputs, unitStart, unitEnd, false);
  } else {
    const inputStart = shareStart(inputs, TILE_ROWS, thread, threads);
    const inputEnd = shareStart(inputs, TILE_ROWS, thread + 1, threads);
    gemm(x, true, dy, false, 0, dw, inputs, units, batch, inputStart, inputEnd, 0, units, false);
  }
  if (db == 0) return;
  for (let j = unitStart; j < unitEnd; j += 4) {
    write(db, j, sumColumns(dy, batch, units, j, unitEnd - j), unitEnd - j);
  }
}
