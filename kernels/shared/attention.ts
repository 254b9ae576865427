// AssemblyScript: what attention and its gradient are made of: products of strips of queries with packed panels of eight keys or
// values, and the layout of a thread's scratch memory. A panel is [depth, 8], zeros beyond the last column.

import { packColumns, PANEL_ROW_BYTES } from './gemm_pack';
import { tile6, TILE_ACCUMULATE, TILE_COLUMNS, TILE_ROWS } from './gemm_tile';
import { copy } from './vectors';

/** Queries and keys of a block. */
export const QUERIES = 48;
export const KEYS = 64;
/** Bytes of a row of scores. */
export const STRIP_ROW: usize = KEYS * 4;
export const STRIP_BYTES: usize = QUERIES * STRIP_ROW;

/** Bytes of a row of a head's values, filled up to whole panels. */
@inline
export function paddedRow(size: i32): usize {
  return (<usize>((size + TILE_COLUMNS - 1) & ~(TILE_COLUMNS - 1))) << 2;
}

/** Panels of the rows of x as columns: [size, rows]. */
export function packAsColumns(x: usize, stride: usize, rows: i32, size: i32, panels: usize): void {
  for (let row = 0; row < rows; row += TILE_COLUMNS) {
    packColumns(x + <usize>row * stride, 4, stride, size, min(TILE_COLUMNS, rows - row), panels);
    panels += <usize>size * PANEL_ROW_BYTES;
  }
}

/** Panels of the rows of x as they are: [rows, size]. */
export function packAsRows(x: usize, stride: usize, rows: i32, size: i32, panels: usize): void {
  for (let column = 0; column < size; column += TILE_COLUMNS) {
    packColumns(x + ((<usize>column) << 2), stride, 4, rows, min(TILE_COLUMNS, size - column), panels);
    panels += <usize>rows * PANEL_ROW_BYTES;
  }
}

/** c[rows, columns] = a[rows, depth]·panels, or that added to c; c has room for whole panels. Strides are in bytes. */
export function multiply(
  a: usize,
  aRow: usize,
  aColumn: usize,
  panels: usize,
  depth: i32,
  c: usize,
  cRow: usize,
  rows: i32,
  columns: i32,
  add: bool,
): void {
  const mode = add ? TILE_ACCUMULATE : 0;
  for (let column = 0; column < columns; column += TILE_COLUMNS) {
    for (let row = 0; row < rows; row += TILE_ROWS) {
      const from = a + <usize>row * aRow;
      const to = c + <usize>row * cRow + ((<usize>column) << 2);
      tile6(from, aRow, aColumn, panels, PANEL_ROW_BYTES, depth, to, cRow, min(TILE_ROWS, rows - row), 0, mode);
    }
    panels += <usize>depth * PANEL_ROW_BYTES;
  }
}

/** Copies rows of `count` values between strides of bytes. */
export function copyRows(to: usize, toRow: usize, from: usize, fromRow: usize, rows: i32, count: i32): void {
  for (let row = 0; row < rows; row++, to += toRow, from += fromRow) copy(to, from, count);
}

/** Clears rows of `count` values. */
export function clearRows(to: usize, toRow: usize, rows: i32, count: i32): void {
  for (let row = 0; row < rows; row++, to += toRow) memory.fill(to, 0, (<usize>count) << 2);
}

/** Keys of the block from `firstKey` on that query number `query` sees. */
@inline
export function seen(query: i32, firstKey: i32, keys: i32, causal: bool): i32 {
  return causal ? max(0, min(keys, query - firstKey + 1)) : keys;
}
