// AssemblyScript: the product of a convolution, rows × (channels · taps) · positions, for one image. Used forwards (rows are
// filters) and for the gradient of the input (rows are channels, one product a phase of the stride). Blocks of whole
// channels are added in order, so every element is the same sum whatever thread computes it.

import { affordableChannels, openBlock, packPanel, SOURCE_SCRATCH, taps, tapWeight } from './conv_source';
import { SMALL_TILE_ROWS, tile4, tile6, TILE_ACCUMULATE, TILE_COLUMNS, TILE_ROWS } from './gemm_tile';
import { scratch } from './scratch';
import { at } from './vectors';

/** Most rows (channel, tap) of a block, and positions of a block. */
const BLOCK_DEPTH = 384;
const BLOCK_POSITIONS = 128;

const PANEL_ROW_BYTES: usize = TILE_COLUMNS * 4;
const PANELS: usize = SOURCE_SCRATCH;
const EDGE: usize = PANELS + <usize>(BLOCK_DEPTH * BLOCK_POSITIONS * 4);
const PACKED: usize = EDGE + <usize>TILE_ROWS * PANEL_ROW_BYTES;
/** Floats of weights that are packed once for all images; larger ones are packed again for each block. */
const PACKED_FLOATS = 38912;

/** Weights: element (row, channel, tap) at address + 4·(row·rowStride + channel·channelStride + tapWeight(tap)). */
let weights: usize = 0;
let weightRow: i32 = 0;
let weightChannel: i32 = 0;
let rows: i32 = 0;
let channels: i32 = 0;
/** The weights of a row stand in the order of (channel, tap): tiles read them where they are. */
let straight: bool = false;
/** All weights fit the packed area and stand there. */
let packed: bool = false;

/** Where results go: a row has `targetPlane` elements; grid position (i, j) is element origin + (i·width + j)·step. */
let targetPlane: i32 = 0;
let targetWidth: i32 = 0;
let targetStep: i32 = 1;
let targetOrigin: i32 = 0;
let gridWidth: i32 = 0;
let positions: i32 = 0;

export function describeWeights(address: usize, row: i32, channel: i32, rowCount: i32, channelCount: i32): void {
  weights = address;
  weightRow = row;
  weightChannel = channel;
  rows = rowCount;
  channels = channelCount;
  straight = channel == taps && tapWeight(taps - 1) == taps - 1;
  packed = !straight && rows * channels * taps <= PACKED_FLOATS;
  if (packed) {
    for (let row = 0; row < rows; row += tileRows(rows - row)) {
      packRows(row, tileRows(rows - row), 0, channels, at(scratch + PACKED, row * channels * taps));
    }
  }
}

export function describeTarget(plane: i32, width: i32, step: i32, origin: i32, gridRows: i32, gridColumns: i32): void {
  targetPlane = plane;
  targetWidth = width;
  targetStep = step;
  targetOrigin = origin;
  gridWidth = gridColumns;
  positions = gridRows * gridColumns;
}

/** Rows of the next tile when `left` are left: eight rows are two small tiles, not a large one and a quarter. */
@inline
function tileRows(left: i32): i32 {
  return left <= SMALL_TILE_ROWS || left == 2 * SMALL_TILE_ROWS ? min(SMALL_TILE_ROWS, left) : min(TILE_ROWS, left);
}

/** packed[(channel, tap), count] = the weights of `count` rows. */
function packRows(row: i32, count: i32, firstChannel: i32, channelCount: i32, target: usize): void {
  for (let channel = firstChannel; channel < firstChannel + channelCount; channel++) {
    const from = row * weightRow + channel * weightChannel;
    for (let tap = 0; tap < taps; tap++) {
      let source = at(weights, from + tapWeight(tap));
      for (let i = 0; i < count; i++) {
        store<f32>(target, load<f32>(source));
        target += 4;
        source = at(source, weightRow);
      }
    }
  }
}

/** Computes all rows at all positions of the grid: target[row, position] = Σ weights · source. */
export function convolveImage(source: usize, sourcePlane: i32, target: usize): void {
  for (let start = 0; start < positions; start += BLOCK_POSITIONS) {
    const end = min(positions, start + BLOCK_POSITIONS);
    const most = max(1, min(BLOCK_DEPTH / taps, affordableChannels(end - start)));
    for (let channel = 0; channel < channels; channel += most) {
      const count = min(most, channels - channel);
      openBlock(at(source, channel * sourcePlane), count, start, end);
      multiplyBlock(target, start, end, channel, count);
    }
  }
}

function multiplyBlock(target: usize, start: i32, end: i32, channel: i32, count: i32): void {
  const depth = count * taps;
  const panelBytes = <usize>depth * PANEL_ROW_BYTES;
  const panels = scratch + PANELS;
  for (let position = start; position < end; position += TILE_COLUMNS) {
    const panel = panels + <usize>((position - start) / TILE_COLUMNS) * panelBytes;
    packPanel(position, min(TILE_COLUMNS, end - position), panel);
  }
  let row = 0;
  while (row < rows) {
    const height = tileRows(rows - row);
    let a = at(weights, row * weightRow + channel * weightChannel);
    let aRow = (<usize>weightRow) << 2;
    let aColumn: usize = 4;
    if (!straight) {
      a = at(scratch + PACKED, packed ? row * channels * taps + channel * taps * height : 0);
      if (!packed) packRows(row, height, channel, count, a);
      aRow = 4;
      aColumn = (<usize>height) << 2;
    }
    for (let position = start; position < end; position += TILE_COLUMNS) {
      const panel = panels + <usize>((position - start) / TILE_COLUMNS) * panelBytes;
      multiplyTile(a, aRow, aColumn, panel, depth, target, row, height, position, end, channel > 0);
    }
    row += height;
  }
}

/** One tile, stored where it belongs: at once if its positions lie side by side, else by way of the edge buffer. */
@inline
function multiplyTile(
  a: usize,
  aRow: usize,
  aColumn: usize,
  panel: usize,
  depth: i32,
  target: usize,
  row: i32,
  height: i32,
  position: i32,
  end: i32,
  accumulate: bool,
): void {
  const columns = min(TILE_COLUMNS, end - position);
  const whole = columns == TILE_COLUMNS && targetStep == 1;
  const mode = accumulate ? TILE_ACCUMULATE : 0;
  const first = at(target, row * targetPlane);
  const edge = scratch + EDGE;
  const out = whole ? at(first, targetOrigin + position) : edge;
  const outRow = whole ? (<usize>targetPlane) << 2 : PANEL_ROW_BYTES;
  if (!whole && accumulate) moveEdge(first, edge, position, height, columns, false);
  if (height <= SMALL_TILE_ROWS) {
    tile4(a, aRow, aColumn, panel, PANEL_ROW_BYTES, depth, out, outRow, height, 0, mode);
  } else {
    tile6(a, aRow, aColumn, panel, PANEL_ROW_BYTES, depth, out, outRow, height, 0, mode);
  }
  if (!whole) moveEdge(first, edge, position, height, columns, true);
}

/** Copies a tile between the edge buffer and the scattered positions of the target. */
function moveEdge(first: usize, edge: usize, position: i32, height: i32, columns: i32, outwards: bool): void {
  for (let j = 0; j < columns; j++) {
    const gridRow = (position + j) / gridWidth;
    const gridColumn = position + j - gridRow * gridWidth;
    let inTarget = at(first, targetOrigin + (gridRow * targetWidth + gridColumn) * targetStep);
    let inEdge = at(edge, j);
    for (let i = 0; i < height; i++) {
      if (outwards) store<f32>(inTarget, load<f32>(inEdge));
      else store<f32>(inEdge, load<f32>(inTarget));
      inTarget = at(inTarget, targetPlane);
      inEdge += PANEL_ROW_BYTES;
    }
  }
}

/** Writes 0 at all positions of the grid: a phase that no tap reaches. */
export function clearImage(target: usize): void {
  for (let row = 0; row < rows; row++) {
    for (let position = 0; position < positions; position++) {
      const gridRow = position / gridWidth;
      const element = targetOrigin + (gridRow * targetWidth + position - gridRow * gridWidth) * targetStep;
      store<f32>(at(target, row * targetPlane + element), 0);
    }
  }
}
