// AssemblyScript: the tiles of a 3 × 3 convolution of stride 1 by Winograd's F(4×4, 3×3) (winograd.ts), as native/conv_winograd.h: where they
// lie, whether they pay, how an image becomes transformed tiles [point][tile][channel], and the products at the points. Used forwards and
// for the gradient of the input (conv_winograd.ts) and of the weight (winograd_weights.ts).

import { batch, channels, dilation, filters, groups, kernel, stride } from './conv_shape';
import { SMALL_TILE_ROWS, tile4, tile6, TILE_COLUMNS, TILE_ROWS } from './gemm_tile';
import { scratch, scratchBytes, winograd } from './scratch';
import { at, read } from './vectors';
import { POINTS, SIDE, STEP, transformImages, transposeSquare, VECTOR } from './winograd';

/** Channels and filters of a block of weights where not all fit. */
export const WEIGHT_BLOCK = 64;
/** Floats between the points beside the tiles, so that points do not fall into the same lines of the cache. */
const BETWEEN = 16;
/** Widest image. */
const MOST_COLUMNS = 256;
/** Fewest channels and filters: the transforms of fewer cost more than the products they save. */
const LEAST_CHANNELS = 12;
/** Fewest multiply-adds of a call: below, direct sums cost little and round less. */
const LEAST_PRODUCTS: f64 = 2.0 * 1024 * 1024;

/** Parts of the scratch memory, in floats: transformed weights, pixels with lanes for channels, lines under way, tiles and products. */
const POINT_WEIGHTS = POINTS * (WEIGHT_BLOCK * WEIGHT_BLOCK + BETWEEN);
const PIXEL_FLOATS = 16384;
const LINE_FLOATS = SIDE * 4 * (MOST_COLUMNS + 8);
const TILE_FLOATS = 352256;
export const PIXELS: usize = <usize>POINT_WEIGHTS * 4;
export const LINE: usize = PIXELS + <usize>PIXEL_FLOATS * 4;
export const TILES: usize = LINE + <usize>LINE_FLOATS * 4;
const SCRATCH_BYTES: usize = TILES + <usize>TILE_FLOATS * 4;
/** Tiles of a block: sums of 6 × 8 take them six at a time, and more would leave the second-level cache. */
const BLOCK_TILES = 24;

/** Images, and the tiles that cover their results: `tileRows` a column of an image, `tileColumns` a row. */
export let imageHeight: i32 = 0;
export let imageWidth: i32 = 0;
let border: i32 = 0;
export let resultHeight: i32 = 0;
export let resultWidth: i32 = 0;
export let tileRows: i32 = 0;
export let tileColumns: i32 = 0;

export function openTiling(height: i32, width: i32, padding: i32): void {
  imageHeight = height;
  imageWidth = width;
  border = padding;
  resultHeight = height + 2 * padding - 2;
  resultWidth = width + 2 * padding - 2;
  tileRows = (resultHeight + STEP - 1) / STEP;
  tileColumns = (resultWidth + STEP - 1) / STEP;
}

@inline
export function roundUp(count: i32, grain: i32): i32 {
  return ((count + grain - 1) / grain) * grain;
}

/** Bytes from point to point of `count` tiles (or channels) with `row` floats each. */
@inline
export function pointBytes(count: i32, row: i32): usize {
  return <usize>(count * row + BETWEEN) << 2;
}

/** Whether the transformed weights of so many channels and rows stand in scratch memory at once. */
export function weightsFit(depth: i32, rows: i32): bool {
  return POINTS * (depth * roundUp(rows, TILE_COLUMNS) + BETWEEN) <= POINT_WEIGHTS;
}

/** Whether the convolution of the shape that was read and the tiling that was opened goes this way; `depth` channels are summed over. */
export function winogradPays(depth: i32, rows: i32): bool {
  if (winograd == 0 || scratchBytes < SCRATCH_BYTES) return false;
  if (kernel != 3 || stride != 1 || dilation != 1 || groups != 1) return false;
  if (border < 0 || border > 2 || imageWidth > MOST_COLUMNS) return false;
  const results = resultHeight * resultWidth;
  if (depth < LEAST_CHANNELS || rows < LEAST_CHANNELS || results * 2 < tileRows * tileColumns * STEP * STEP) return false;
  if (9.0 * <f64>batch * <f64>channels * <f64>filters * <f64>results < LEAST_PRODUCTS) return false;
  const block = weightsFit(depth, rows) ? rows : WEIGHT_BLOCK;
  const each = tileColumns * (roundUp(depth, 4) + roundUp(block, TILE_COLUMNS));
  return POINTS * (each + 2 * BETWEEN) <= TILE_FLOATS;
}

/** The first `left` of four elements of plane number `lane`, zeros from plane `lanes` on. */
@inline
export function planeVector(plane: usize, planeBytes: usize, lane: i32, lanes: i32, left: i32): v128 {
  return lane < lanes ? read(plane + <usize>lane * planeBytes, 0, left) : f32x4.splat(0);
}

/** A row of four planes as `width` vectors at `to` whose lanes are the planes. Writes up to three vectors more. */
@inline
export function spreadRow(row: usize, planeBytes: usize, lanes: i32, width: i32, to: usize): void {
  for (let x = 0; x < width; x += 4) {
    let left = width - x;
    if (left < 4 && width >= 4) {
      x = width - 4;
      left = 4;
    }
    const from = at(row, x);
    transposeSquare(
      planeVector(from, planeBytes, 0, lanes, left),
      planeVector(from, planeBytes, 1, lanes, left),
      planeVector(from, planeBytes, 2, lanes, left),
      planeVector(from, planeBytes, 3, lanes, left),
      to + <usize>x * VECTOR,
      VECTOR,
    );
  }
}

/** Rows of tiles whose pixels there is room for at once. */
@inline
export function mostTileRows(): i32 {
  return (PIXEL_FLOATS / 4 / (tileColumns * STEP + 8) - SIDE + STEP) / STEP;
}

/**
 * Transformed tiles of the rows of tiles first … last of one image, for up to four channels from `planes` on: tile t of point p at
 * to + p · point + t · row.
 */
export function transformTiles(planes: usize, lanes: i32, first: i32, last: i32, to: usize, point: usize, row: usize): void {
  const columns = tileColumns * STEP + SIDE - STEP;
  const end = min(imageWidth, columns - border);
  const lineBytes = <usize>columns * VECTOR;
  const pixels = scratch + PIXELS;
  const line = scratch + LINE;
  const planeBytes = <usize>(imageHeight * imageWidth) << 2;
  const top = first * STEP - border;
  const rows = (last - first) * STEP + SIDE - STEP;
  for (let y = 0; y < rows; y++) {
    const target = pixels + <usize>y * lineBytes;
    if (top + y < 0 || top + y >= imageHeight) {
      memory.fill(target, 0, lineBytes);
      continue;
    }
    // What is spread beyond the last column that counts stands where zeros come, or the next row.
    spreadRow(at(planes, (top + y) * imageWidth), planeBytes, lanes, end, target + <usize>border * VECTOR);
    for (let x = 0; x < border; x++) v128.store(target + <usize>x * VECTOR, f32x4.splat(0));
    for (let x = border + end; x < columns; x++) v128.store(target + <usize>x * VECTOR, f32x4.splat(0));
  }
  for (let tileRow = first; tileRow < last; tileRow++) {
    const from = pixels + <usize>((tileRow - first) * STEP) * lineBytes;
    transformImages(from, lineBytes, VECTOR, line, lineBytes, VECTOR, columns);
    for (let i = 0; i < SIDE; i++) {
      const target = to + <usize>(i * SIDE) * point;
      transformImages(line + <usize>i * lineBytes, VECTOR, STEP * VECTOR, target, point, row, tileColumns);
    }
    to += <usize>tileColumns * row;
  }
}

/** c[i, j] (+)= Σ a[i, p]·b[p, j] at one point: `columns` are whole tiles, distances in bytes. */
export function multiplyPoint(
  a: usize,
  aRow: usize,
  aColumn: usize,
  rows: i32,
  b: usize,
  bRow: usize,
  depth: i32,
  c: usize,
  cRow: usize,
  columns: i32,
  mode: i32,
): void {
  for (let j = 0; j < columns; j += TILE_COLUMNS) {
    let i = 0;
    while (i < rows) {
      const left = rows - i;
      const from = a + <usize>i * aRow;
      const to = at(c + <usize>i * cRow, j);
      // Eight rows are two small tiles, not a large one and a third of one.
      const small = left <= SMALL_TILE_ROWS || left == 2 * SMALL_TILE_ROWS;
      const height = min(small ? SMALL_TILE_ROWS : TILE_ROWS, left);
      if (small) tile4(from, aRow, aColumn, at(b, j), bRow, depth, to, cRow, height, 0, mode);
      else tile6(from, aRow, aColumn, at(b, j), bRow, depth, to, cRow, height, 0, mode);
      i += height;
    }
  }
}

/** Rows of tiles of a block: as many tiles as pay, of those that there is room for; at least one. */
export function rowsOfBlock(depth: i32, rows: i32): i32 {
  const room = (TILE_FLOATS / POINTS - 2 * BETWEEN) / (roundUp(depth, 4) + roundUp(rows, TILE_COLUMNS));
  return max(1, min(BLOCK_TILES, room) / tileColumns);
}
