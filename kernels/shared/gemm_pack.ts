// AssemblyScript: copies blocks of the matrix product's operands into the order in which tiles read them.

import { TILE_COLUMNS } from './gemm_tile';

/** Bytes of one packed row of a column panel. */
export const PANEL_ROW_BYTES: usize = TILE_COLUMNS * 4;

/**
 * panel[depth, 8] = b[0 … depth, 0 … columns] with missing columns as zeros. Element (p, j) of b lies at
 * b + p·bRow + j·bColumn; one of the strides is 4.
 */
export function packColumns(b: usize, bRow: usize, bColumn: usize, depth: i32, columns: i32, panel: usize): void {
  if (columns == TILE_COLUMNS) {
    if (bColumn == 4) packStraight(b, bRow, depth, panel);
    else packTransposed(b, bColumn, depth, panel);
    return;
  }
  const zero = f32x4.splat(0);
  for (let p = 0; p < depth; p++) {
    v128.store(panel, zero);
    v128.store(panel, zero, 16);
    for (let j = 0; j < columns; j++) store<f32>(panel + ((<usize>j) << 2), load<f32>(b + <usize>j * bColumn));
    b += bRow;
    panel += PANEL_ROW_BYTES;
  }
}

function packStraight(b: usize, bRow: usize, depth: i32, panel: usize): void {
  for (let p = 0; p < depth; p++) {
    v128.store(panel, v128.load(b));
    v128.store(panel, v128.load(b, 16), 16);
    b += bRow;
    panel += PANEL_ROW_BYTES;
  }
}

/** Eight contiguous columns of length `depth` become rows of eight, in blocks of 4 × 4. */
function packTransposed(b: usize, bColumn: usize, depth: i32, panel: usize): void {
  const whole = depth & ~3;
  for (let half: usize = 0; half < 2; half++) {
    const source = b + half * 4 * bColumn;
    const target = panel + half * 16;
    for (let p = 0; p < whole; p += 4) {
      const from = source + ((<usize>p) << 2);
      transpose4(from, bColumn, target + <usize>p * PANEL_ROW_BYTES, PANEL_ROW_BYTES);
    }
    for (let p = whole; p < depth; p++) {
      for (let j: usize = 0; j < 4; j++) {
        const value = load<f32>(source + j * bColumn + ((<usize>p) << 2));
        store<f32>(target + <usize>p * PANEL_ROW_BYTES + (j << 2), value);
      }
    }
  }
}

function transpose4(from: usize, fromRow: usize, to: usize, toRow: usize): void {
  const r0 = v128.load(from);
  const r1 = v128.load(from + fromRow);
  const r2 = v128.load(from + 2 * fromRow);
  const r3 = v128.load(from + 3 * fromRow);
  const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
  const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
  const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
  v128.store(to + toRow, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
  v128.store(to + 2 * toRow, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
  v128.store(to + 3 * toRow, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
}

/** packed[depth, rows] = a[0 … rows, 0 … depth]ᵀ, for `a` whose columns are contiguous (a transposed operand). */
export function packRows(a: usize, aColumn: usize, depth: i32, rows: i32, packed: usize): void {
  const rowBytes = (<usize>rows) << 2;
  for (let p = 0; p < depth; p++) {
    for (let i: usize = 0; i < rowBytes; i += 4) store<f32>(packed + i, load<f32>(a + i));
    a += aColumn;
    packed += rowBytes;
  }
}
