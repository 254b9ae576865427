// AssemblyScript: c = op(a)·op(b) + bias over a block of rows and columns, with max(·, 0) on request. Blocks of the summed
// dimension are added in order, so every element is the same sum whatever the block of rows and columns it is computed in.
// Loop order (outer to inner): column blocks, depth blocks, row panels, column panels; see docs/cpu-backend.md.

import { packColumns, packRows, PANEL_ROW_BYTES } from './gemm_pack';
import { SMALL_TILE_ROWS, tile4, tile6, TILE_ACCUMULATE, TILE_COLUMNS, TILE_RELU, TILE_ROWS } from './gemm_tile';
import { scratch } from './scratch';

/** Length of a block of the summed dimension: a packed panel of b (8 columns, 12 kB) stays in the first-level cache. */
const BLOCK_DEPTH = 384;
/** Columns of a packed block of b (BLOCK_DEPTH × 256 floats, 384 kB: second-level cache). */
const BLOCK_COLUMNS = 256;
/** From this many rows on, and this many elements of b, packing b pays even if its rows are contiguous. */
const PACK_MIN_ROWS = 24;
const PACK_MIN_ELEMENTS = 16384;
/** From this many elements on, packing the row panels of a transposed `a` pays. */
const PACK_MIN_TRANSPOSED = 16384;

/** Parts of the scratch memory. */
const PACKED_B_BYTES: usize = BLOCK_DEPTH * BLOCK_COLUMNS * 4;
const PACKED_A_BYTES: usize = BLOCK_DEPTH * TILE_ROWS * 4;
const EDGE_BYTES: usize = <usize>TILE_ROWS * PANEL_ROW_BYTES;

/** Computes rows rowStart … rowEnd and columns columnStart … columnEnd of c [m, n]. Leading dimensions follow from m, n, k. */
export function gemm(
  a: usize,
  transposeA: bool,
  b: usize,
  transposeB: bool,
  bias: usize,
  c: usize,
  m: i32,
  n: i32,
  k: i32,
  rowStart: i32,
  rowEnd: i32,
  columnStart: i32,
  columnEnd: i32,
  relu: bool,
): void {
  if (rowStart >= rowEnd || columnStart >= columnEnd) return;
  const aRow: usize = transposeA ? 4 : (<usize>k) << 2;
  const aColumn: usize = transposeA ? (<usize>m) << 2 : 4;
  const bRow: usize = transposeB ? 4 : (<usize>n) << 2;
  const bColumn: usize = transposeB ? (<usize>k) << 2 : 4;
  const cRow = (<usize>n) << 2;
  const packB =
    transposeB || (rowEnd - rowStart >= PACK_MIN_ROWS && k * (columnEnd - columnStart) >= PACK_MIN_ELEMENTS);
  const packA = transposeA && k * m >= PACK_MIN_TRANSPOSED;
  const packedB = scratch;
  const packedA = packedB + PACKED_B_BYTES;
  const edge = packedA + PACKED_A_BYTES;
  const edgeBias = edge + EDGE_BYTES;

  for (let blockStart = columnStart; blockStart < columnEnd; blockStart += BLOCK_COLUMNS) {
    const blockEnd = min(columnEnd, blockStart + BLOCK_COLUMNS);
    for (let depthStart = 0; depthStart < k; depthStart += BLOCK_DEPTH) {
      const depth = min(BLOCK_DEPTH, k - depthStart);
      const panelBytes = <usize>depth * PANEL_ROW_BYTES;
      const bBlock = b + <usize>depthStart * bRow;
      for (let column = blockStart; column < blockEnd; column += TILE_COLUMNS) {
        const columns = min(TILE_COLUMNS, blockEnd - column);
        if (!packB && columns == TILE_COLUMNS) continue;
        const panel = packedB + <usize>((column - blockStart) / TILE_COLUMNS) * panelBytes;
        packColumns(bBlock + <usize>column * bColumn, bRow, bColumn, depth, columns, panel);
      }
      let mode = 0;
      if (depthStart > 0) mode |= TILE_ACCUMULATE;
      if (relu && depthStart + depth == k) mode |= TILE_RELU;

      let row = rowStart;
      while (row < rowEnd) {
        const left = rowEnd - row;
        // Eight rows are two small tiles, not a large one and a quarter.
        const small = left <= SMALL_TILE_ROWS || left == 2 * SMALL_TILE_ROWS;
        const rows = min(small ? SMALL_TILE_ROWS : TILE_ROWS, left);
        let aPanel = a + <usize>row * aRow + <usize>depthStart * aColumn;
        let aPanelRow = aRow;
        let aPanelColumn = aColumn;
        if (packA) {
          packRows(aPanel, aColumn, depth, rows, packedA);
          aPanel = packedA;
          aPanelRow = 4;
          aPanelColumn = (<usize>rows) << 2;
        }
        for (let column = blockStart; column < blockEnd; column += TILE_COLUMNS) {
          const columns = min(TILE_COLUMNS, blockEnd - column);
          const whole = columns == TILE_COLUMNS;
          let panel = bBlock + ((<usize>column) << 2);
          let panelRow = bRow;
          if (packB || !whole) {
            panel = packedB + <usize>((column - blockStart) / TILE_COLUMNS) * panelBytes;
            panelRow = PANEL_ROW_BYTES;
          }
          const target = c + <usize>row * cRow + ((<usize>column) << 2);
          let out = target;
          let outRow = cRow;
          let tileBias: usize = bias != 0 ? bias + ((<usize>column) << 2) : 0;
          if (!whole) {
            out = edge;
            outRow = PANEL_ROW_BYTES;
            if (bias != 0) {
              copyRows(tileBias, 0, edgeBias, 0, 1, columns);
              tileBias = edgeBias;
            }
            if (mode & TILE_ACCUMULATE) copyRows(target, cRow, edge, PANEL_ROW_BYTES, rows, columns);
          }
          if (small) {
            tile4(aPanel, aPanelRow, aPanelColumn, panel, panelRow, depth, out, outRow, rows, tileBias, mode);
          } else {
            tile6(aPanel, aPanelRow, aPanelColumn, panel, panelRow, depth, out, outRow, rows, tileBias, mode);
          }
          if (!whole) copyRows(edge, PANEL_ROW_BYTES, target, cRow, rows, columns);
        }
        row += rows;
      }
    }
  }
}

function copyRows(from: usize, fromRow: usize, to: usize, toRow: usize, rows: i32, columns: i32): void {
  const bytes = (<usize>columns) << 2;
  for (let i = 0; i < rows; i++) {
    for (let j: usize = 0; j < bytes; j += 4) store<f32>(to + j, load<f32>(from + j));
    from += fromRow;
    to += toRow;
  }
}
