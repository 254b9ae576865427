// AssemblyScript: an image seen as the right-hand matrix of a convolution's product (implicit GEMM: the matrix is never
// stored). Row (channel, tap) and column `position` hold the element that tap reads at that position, 0 beyond the border.
// Positions count the elements of a grid row by row. The forward pass, the gradient of the input (whose taps read dy) and
// the gradient of the weight all read their operands through this view. State lives in globals: one thread, one instance.

import { scratch } from './scratch';
import { at, copy } from './vectors';

/** Most taps of a kernel (11 × 11). */
const MAX_TAPS = 121;
/** Columns of a packed panel, as of the product's tiles. */
const PANEL = 8;

/** Scratch memory in front of what the products use: the tables of taps, then the band. */
const TAP_ROWS: usize = 0;
const TAP_COLUMNS: usize = 512;
const TAP_WEIGHTS: usize = 1024;
const TAP_OFFSETS: usize = 1536;
const BAND: usize = 2048;
/** Floats of the band: rows of the image copied between borders of zeros. */
export const BAND_FLOATS = 40960;
/** First byte of scratch memory that the view does not use. */
export const SOURCE_SCRATCH: usize = BAND + (<usize>BAND_FLOATS << 2);

export let taps: i32 = 0;
let imageHeight: i32 = 0;
let imageWidth: i32 = 0;
let stride: i32 = 1;
let gridWidth: i32 = 0;
let topmost: i32 = 0;
let lowest: i32 = 0;
let leftmost: i32 = 0;
let rightmost: i32 = 0;

/** The open block: where its first element lies, and its strides in elements. */
let base: usize = 0;
let channelStride: i32 = 0;
let rowStride: i32 = 0;
let firstGridRow: i32 = 0;
let blockChannels: i32 = 0;

/** Describes the image (one plane of it a channel) and the grid: position (i, j) reads around (i·step, j·step). */
export function describeSource(height: i32, width: i32, step: i32, columns: i32): void {
  imageHeight = height;
  imageWidth = width;
  stride = step;
  gridWidth = columns;
  taps = 0;
}

/** Adds a tap: it reads `row`, `column` elements away from the position's; `weight` is where its weight stands. */
export function addTap(row: i32, column: i32, weight: i32): void {
  topmost = taps == 0 ? row : min(topmost, row);
  lowest = taps == 0 ? row : max(lowest, row);
  leftmost = taps == 0 ? column : min(leftmost, column);
  rightmost = taps == 0 ? column : max(rightmost, column);
  store<i32>(at(scratch + TAP_ROWS, taps), row);
  store<i32>(at(scratch + TAP_COLUMNS, taps), column);
  store<i32>(at(scratch + TAP_WEIGHTS, taps), weight);
  taps = min(taps + 1, MAX_TAPS);
}

@inline
export function tapWeight(tap: i32): i32 {
  return load<i32>(at(scratch + TAP_WEIGHTS, tap));
}

/** Channels a block of `positions` positions may have: its band has to fit. */
export function affordableChannels(positions: i32): i32 {
  const rows = ((positions + gridWidth - 2) / gridWidth + 1) * stride + lowest - topmost;
  const columns = (gridWidth - 1) * stride + 1 + rightmost - leftmost;
  return max(1, BAND_FLOATS / (rows * columns));
}

/** Opens the rows of `channels` channels (the first at `source`) and the positions `start` … `end`. */
export function openBlock(source: usize, channels: i32, start: i32, end: i32): void {
  blockChannels = channels;
  firstGridRow = start / gridWidth;
  const lastGridRow = (end - 1) / gridWidth;
  const firstRow = firstGridRow * stride + topmost;
  const rows = lastGridRow * stride + lowest - firstRow + 1;
  const columns = (gridWidth - 1) * stride + 1 + rightmost - leftmost;
  const inside = firstRow >= 0 && firstRow + rows <= imageHeight && leftmost >= 0 && leftmost + columns <= imageWidth;
  if (inside) {
    base = at(source, firstRow * imageWidth + leftmost);
    channelStride = imageHeight * imageWidth;
    rowStride = imageWidth;
  } else {
    base = scratch + BAND;
    channelStride = rows * columns;
    rowStride = columns;
    fillBand(source, channels, firstRow, rows, columns);
  }
  for (let tap = 0; tap < taps; tap++) {
    const row = load<i32>(at(scratch + TAP_ROWS, tap)) - topmost;
    const column = load<i32>(at(scratch + TAP_COLUMNS, tap)) - leftmost;
    store<i32>(at(scratch + TAP_OFFSETS, tap), row * rowStride + column);
  }
}

/** Copies the rows the block reads, with zeros where they lie beyond the image. */
function fillBand(source: usize, channels: i32, firstRow: i32, rows: i32, columns: i32): void {
  const left = min(columns, max(0, -leftmost));
  const first = max(0, leftmost);
  const inside = max(0, min(columns - left, imageWidth - first));
  const right = columns - left - inside;
  let target = base;
  for (let channel = 0; channel < channels; channel++) {
    const plane = at(source, channel * imageHeight * imageWidth);
    for (let row = firstRow; row < firstRow + rows; row++) {
      if (row < 0 || row >= imageHeight || inside == 0) {
        memory.fill(target, 0, (<usize>columns) << 2);
      } else {
        zero(target, left);
        copy(at(target, left), at(plane, row * imageWidth + first), inside);
        zero(at(target, left + inside), right);
      }
      target = at(target, columns);
    }
  }
}

@inline
function zero(target: usize, count: i32): void {
  for (let i = 0; i < count; i++) store<f32>(at(target, i), 0);
}

/** Where a position of the block lies, counted from the block's first element. */
@inline
function placeOf(position: i32): i32 {
  const row = position / gridWidth;
  return (row - firstGridRow) * stride * rowStride + (position - row * gridWidth) * stride;
}

/** panel[row (channel, tap), 8] = the columns from `position` on, zeros where `columns` < 8. */
export function packPanel(position: i32, columns: i32, panel: usize): void {
  const oneRow = columns == PANEL && (position % gridWidth) + PANEL <= gridWidth;
  if (oneRow && stride == 1) packStraight(placeOf(position), panel);
  else if (oneRow && stride == 2) packEven(placeOf(position), panel);
  else packScattered(position, columns, panel);
}

function packStraight(place: i32, panel: usize): void {
  for (let channel = 0; channel < blockChannels; channel++) {
    const from = at(base, channel * channelStride + place);
    for (let tap = 0; tap < taps; tap++) {
      const source = at(from, load<i32>(at(scratch + TAP_OFFSETS, tap)));
      v128.store(panel, v128.load(source));
      v128.store(panel, v128.load(source, 16), 16);
      panel += PANEL * 4;
    }
  }
}

/** Every second element: 0, 2, 4, 6 from two vectors, 8 … 14 from two that end at the last one needed. */
function packEven(place: i32, panel: usize): void {
  for (let channel = 0; channel < blockChannels; channel++) {
    const from = at(base, channel * channelStride + place);
    for (let tap = 0; tap < taps; tap++) {
      const source = at(from, load<i32>(at(scratch + TAP_OFFSETS, tap)));
      v128.store(panel, v128.shuffle<f32>(v128.load(source), v128.load(source, 16), 0, 2, 4, 6));
      v128.store(panel, v128.shuffle<f32>(v128.load(source, 32), v128.load(source, 44), 0, 2, 5, 7), 16);
      panel += PANEL * 4;
    }
  }
}

function packScattered(position: i32, columns: i32, panel: usize): void {
  for (let lane = 0; lane < PANEL; lane++) {
    const place = lane < columns ? placeOf(position + lane) : 0;
    let target = at(panel, lane);
    for (let channel = 0; channel < blockChannels; channel++) {
      const from = at(base, channel * channelStride + place);
      for (let tap = 0; tap < taps; tap++) {
        const source = at(from, load<i32>(at(scratch + TAP_OFFSETS, tap)));
        store<f32>(target, lane < columns ? load<f32>(source) : 0);
        target += PANEL * 4;
      }
    }
  }
}

/** target[0 … count] = the row (channel, tap) of the block at the positions `start` … `start + count`. */
export function copyRow(channel: i32, tap: i32, start: i32, count: i32, target: usize): void {
  const from = at(base, channel * channelStride + load<i32>(at(scratch + TAP_OFFSETS, tap)));
  let position = start;
  const end = start + count;
  while (position < end) {
    const length = min(end - position, gridWidth - (position % gridWidth));
    const source = at(from, placeOf(position));
    if (stride == 1) copy(target, source, length);
    else for (let i = 0; i < length; i++) store<f32>(at(target, i), load<f32>(at(source, i * stride)));
    target = at(target, length);
    position += length;
  }
}
