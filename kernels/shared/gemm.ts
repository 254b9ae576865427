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

// The pass being run: globals, since each thread has an instance of its own and AssemblyScript no structures on the stack.
// Strides are in bytes.
let a: usize = 0;
let aRow: usize = 0;
let aColumn: usize = 0;
let packA: bool = false;
let b: usize = 0;
let bRow: usize = 0;
let bColumn: usize = 0;
let packB: bool = false;
let bias: usize = 0;
let c: usize = 0;
let cRow: usize = 0;
/** The block of columns and the block of the summed dimension. */
let blockStart: i32 = 0;
let blockEnd: i32 = 0;
let depthStart: i32 = 0;
let depth: i32 = 0;
let mode: i32 = 0;

/** Computes rows rowStart … rowEnd and columns columnStart … columnEnd of c [m, n], op(a) [m, k], op(b) [k, n]. */
export function gemm(
  aAddress: usize,
  transposeA: bool,
  bAddress: usize,
  transposeB: bool,
  biasAddress: usize,
  cAddress: usize,
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
  a = aAddress;
  aRow = transposeA ? 4 : (<usize>k) << 2;
  aColumn = transposeA ? (<usize>m) << 2 : 4;
  packA = transposeA && k * m >= PACK_MIN_TRANSPOSED;
  b = bAddress;
  bRow = transposeB ? 4 : (<usize>n) << 2;
  bColumn = transposeB ? (<usize>k) << 2 : 4;
  packB = transposeB || (rowEnd - rowStart >= PACK_MIN_ROWS && k * (columnEnd - columnStart) >= PACK_MIN_ELEMENTS);
  bias = biasAddress;
  c = cAddress;
  cRow = (<usize>n) << 2;
  for (blockStart = columnStart; blockStart < columnEnd; blockStart += BLOCK_COLUMNS) {
    blockEnd = min(columnEnd, blockStart + BLOCK_COLUMNS);
    for (depthStart = 0; depthStart < k; depthStart += BLOCK_DEPTH) {
      depth = min(BLOCK_DEPTH, k - depthStart);
      mode = (depthStart > 0 ? TILE_ACCUMULATE : 0) | (relu && depthStart + depth == k ? TILE_RELU : 0);
      packPanels();
      for (let row = rowStart; row < rowEnd; ) {
        const left = rowEnd - row;
        // Eight rows are two small tiles, not a large one and a quarter.
        const small = left <= SMALL_TILE_ROWS || left == 2 * SMALL_TILE_ROWS;
        const rows = min(small ? SMALL_TILE_ROWS : TILE_ROWS, left);
        runRows(row, rows, small);
        row += rows;
      }
    }
  }
}

/** Where the panel of b that starts at `column` is packed. */
function packedPanel(column: i32): usize {
  return scratch + <usize>(column - blockStart) * <usize>depth * 4;
}

function packPanels(): void {
  const block = b + <usize>depthStart * bRow;
  for (let column = blockStart; column < blockEnd; column += TILE_COLUMNS) {
    const columns = min(TILE_COLUMNS, blockEnd - column);
    if (!packB && columns == TILE_COLUMNS) continue;
    packColumns(block + <usize>column * bColumn, bRow, bColumn, depth, columns, packedPanel(column));
  }
}

/** A row of tiles, left to right. */
function runRows(row: i32, rows: i32, small: bool): void {
  let panel = a + <usize>row * aRow + <usize>depthStart * aColumn;
  let panelRow = aRow;
  let panelColumn = aColumn;
  if (packA) {
    const packed = scratch + PACKED_B_BYTES;
    packRows(panel, aColumn, depth, rows, packed);
    panel = packed;
    panelRow = 4;
    panelColumn = (<usize>rows) << 2;
  }
  for (let column = blockStart; column < blockEnd; column += TILE_COLUMNS) {
    const target = c + <usize>row * cRow + ((<usize>column) << 2);
    const tileBias = bias != 0 ? bias + ((<usize>column) << 2) : 0;
    const columns = blockEnd - column;
    if (columns < TILE_COLUMNS) {
      runEdge(panel, panelRow, panelColumn, column, columns, target, rows, tileBias, small);
    } else {
      const from = packB ? packedPanel(column) : b + <usize>depthStart * bRow + ((<usize>column) << 2);
      const fromRow = packB ? PANEL_ROW_BYTES : bRow;
      runTile(panel, panelRow, panelColumn, from, fromRow, target, cRow, rows, tileBias, small);
    }
  }
}

/** A tile with fewer than 8 columns: computed next to c, where there is room for all 8, and copied. */
function runEdge(
  panel: usize,
  panelRow: usize,
  panelColumn: usize,
  column: i32,
  columns: i32,
  target: usize,
  rows: i32,
  tileBias: usize,
  small: bool,
): void {
  const edge = scratch + PACKED_B_BYTES + PACKED_A_BYTES;
  const edgeBias = edge + EDGE_BYTES;
  if (tileBias != 0) copyRows(tileBias, 0, edgeBias, 0, 1, columns);
  if (mode & TILE_ACCUMULATE) copyRows(target, cRow, edge, PANEL_ROW_BYTES, rows, columns);
  const from = packedPanel(column);
  const bias = tileBias != 0 ? edgeBias : 0;
  runTile(panel, panelRow, panelColumn, from, PANEL_ROW_BYTES, edge, PANEL_ROW_BYTES, rows, bias, small);
  copyRows(edge, PANEL_ROW_BYTES, target, cRow, rows, columns);
}

function runTile(
  panel: usize,
  panelRow: usize,
  panelColumn: usize,
  from: usize,
  fromRow: usize,
  target: usize,
  targetRow: usize,
  rows: i32,
  tileBias: usize,
  small: bool,
): void {
  if (small) tile4(panel, panelRow, panelColumn, from, fromRow, depth, target, targetRow, rows, tileBias, mode);
  else tile6(panel, panelRow, panelColumn, from, fromRow, depth, target, targetRow, rows, tileBias, mode);
}

function copyRows(from: usize, fromRow: usize, to: usize, toRow: usize, rows: i32, columns: i32): void {
  const bytes = (<usize>columns) << 2;
  for (let i = 0; i < rows; i++) {
    for (let j: usize = 0; j < bytes; j += 4) store<f32>(to + j, load<f32>(from + j));
    from += fromRow;
    to += toRow;
  }
}
