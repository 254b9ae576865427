// AssemblyScript: 3 × 3 convolutions of stride 1 by Winograd's transforms (conv_tiling.ts), forwards and for the gradient of the input.
// Rows of tiles, over all images of a thread, are taken in blocks: image → transformed tiles [point][tile][channel] → a product with the
// transformed weights at each of the 36 points → [point][tile][filter] → results. Sums run over the channels in order, so the bits of a
// result do not depend on the block, and so not on the number of threads.

import { finishImage } from './conv_finish';
import { batch } from './conv_shape';
import {
  imageHeight,
  imageWidth,
  LINE,
  mostTileRows,
  multiplyPoint,
  PIXELS,
  planeVector,
  pointBytes,
  resultHeight,
  resultWidth,
  roundUp,
  rowsOfBlock,
  tileColumns,
  tileRows,
  TILES,
  transformTiles,
  WEIGHT_BLOCK,
  weightsFit,
} from './conv_tiling';
import { TILE_ACCUMULATE, TILE_COLUMNS } from './gemm_tile';
import { scratch } from './scratch';
import { at, shareStart, write } from './vectors';
import { finishResults, POINTS, SIDE, STEP, transformWeights, transposeSquare, VECTOR } from './winograd';

/** The weights as the product sees them: element (row, channel, tap) at weights + row·rowStride + channel·channelStride + tap. */
let weights: usize = 0;
let weightRow: i32 = 0;
let weightChannel: i32 = 0;
/** For the gradient of the input: taps are counted from the end. */
let turned: bool = false;

export function describeFilters(address: usize, row: i32, channel: i32, backwards: bool): void {
  weights = address;
  weightRow = row;
  weightChannel = channel;
  turned = backwards;
}

/** What follows the sums of an image: conv_finish.ts. */
let bias: usize = 0;
let saved: usize = 0;
let activation: i32 = 0;

export function describeFinish(biasOf: usize, savedOf: usize, code: i32): void {
  bias = biasOf;
  saved = savedOf;
  activation = code;
}

/** Results of the rows of tiles first … last of one image, for up to four filters whose planes begin at `planes`. */
function finishTiles(from: usize, point: usize, row: usize, first: i32, last: i32, planes: usize, lanes: i32): void {
  const lineBytes = <usize>(tileColumns * STEP + 2) * VECTOR;
  const pixels = scratch + PIXELS;
  const half = scratch + LINE;
  const halfBytes = STEP * SIDE * VECTOR;
  const planeBytes = <usize>(resultHeight * resultWidth) << 2;
  for (let tileRow = first; tileRow < last; tileRow++) {
    for (let i = 0; i < SIDE; i++) {
      const line = from + <usize>(i * SIDE) * point;
      finishResults(line, point, row, half + <usize>i * VECTOR, SIDE * VECTOR, halfBytes, tileColumns);
    }
    for (let j = 0; j < STEP; j++) {
      const column = half + <usize>(j * SIDE) * VECTOR;
      finishResults(column, VECTOR, halfBytes, pixels + <usize>j * VECTOR, lineBytes, STEP * VECTOR, tileColumns);
    }
    const rows = min(STEP, resultHeight - tileRow * STEP);
    for (let y = 0; y < rows; y++) {
      const target = at(planes, (tileRow * STEP + y) * resultWidth);
      storeRow(pixels + <usize>y * lineBytes, target, planeBytes, lanes);
    }
    from += <usize>tileColumns * row;
  }
}

/** A row of results with lanes for filters to the planes of the filters. */
@inline
function storeRow(pixels: usize, row: usize, planeBytes: usize, lanes: i32): void {
  const square = scratch + LINE;
  for (let x = 0; x < resultWidth; x += 4) {
    let left = resultWidth - x;
    if (left < 4 && resultWidth >= 4) {
      x = resultWidth - 4;
      left = 4;
    }
    const from = pixels + <usize>x * VECTOR;
    const to = at(row, x);
    const whole = lanes == 4 && left == 4;
    transposeSquare(
      v128.load(from),
      v128.load(from, 16),
      v128.load(from, 32),
      v128.load(from, 48),
      whole ? to : square,
      whole ? planeBytes : VECTOR,
    );
    if (whole) continue;
    for (let i = 0; i < lanes; i++) {
      write(to + <usize>i * planeBytes, 0, v128.load(square + <usize>i * VECTOR), left);
    }
  }
}

/** The taps of up to four rows of a channel as nine vectors at `to`: lanes are rows, zeros from `lanes` on. */
@inline
function gatherTaps(row: i32, lanes: i32, channel: i32, to: usize): void {
  const from = at(weights, row * weightRow + channel * weightChannel);
  const next = <usize>weightRow << 2;
  const step: usize = turned ? 0 - VECTOR : VECTOR;
  const first = turned ? to + 8 * VECTOR : to;
  for (let tap = 0; tap < 8; tap += 4) {
    const each = from + (<usize>tap << 2);
    transposeSquare(
      planeVector(each, next, 0, lanes, 4),
      planeVector(each, next, 1, lanes, 4),
      planeVector(each, next, 2, lanes, 4),
      planeVector(each, next, 3, lanes, 4),
      first + <usize>tap * step,
      step,
    );
  }
  const last = first + 8 * step;
  v128.store(last, f32x4.splat(0));
  for (let i = 0; i < lanes; i++) store<f32>(at(last, i), load<f32>(from + <usize>i * next, 32));
}

/** u[point][channel][row] of a block of rows and channels; rows are filled up to whole tiles of the product. */
function transformFilters(row: i32, rows: i32, channel: i32, count: i32, point: usize): void {
  const stretch = roundUp(rows, TILE_COLUMNS);
  const taps = scratch + LINE;
  const half = taps + 9 * VECTOR;
  for (let r = 0; r < stretch; r += 4) {
    for (let c = 0; c < count; c++) {
      gatherTaps(row + r, max(0, min(4, rows - r)), channel + c, taps);
      for (let j = 0; j < 3; j++) {
        transformWeights(taps + <usize>j * VECTOR, 3 * VECTOR, half + <usize>j * VECTOR, 3 * VECTOR);
      }
      const to = at(scratch, c * stretch + r);
      for (let i = 0; i < SIDE; i++) {
        transformWeights(half + <usize>(3 * i) * VECTOR, VECTOR, to + <usize>(i * SIDE) * point, point);
      }
    }
  }
}

/**
 * The rows of tiles `start` … `end` of all images of x [batch, depth, height, width], by the weights of `rows` rows from `first` on; the
 * planes of y stand as those of `allRows` rows do.
 */
function convolveTiles(x: usize, depth: i32, y: usize, allRows: i32, first: i32, rows: i32, start: i32, end: i32, slope: v128): void {
  const fits = weightsFit(depth, rows);
  const filterBlock = fits ? rows : min(rows, WEIGHT_BLOCK);
  const channelBlock = fits ? depth : WEIGHT_BLOCK;
  const block = min(rowsOfBlock(depth, filterBlock), end - start);
  const most = block * tileColumns;
  const imageRow = roundUp(depth, 4);
  const imagePoint = pointBytes(most, imageRow);
  const sumRow = roundUp(filterBlock, TILE_COLUMNS);
  const sumPoint = pointBytes(most, sumRow);
  const images = scratch + TILES;
  const sums = images + POINTS * imagePoint;
  const plane = imageHeight * imageWidth;
  const resultPlane = resultHeight * resultWidth;
  const stretch = mostTileRows();
  if (fits) transformFilters(first, rows, 0, depth, pointBytes(depth, sumRow));
  for (let from = start; from < end; from += block) {
    const to = min(end, from + block);
    const count = (to - from) * tileColumns;
    let next = from;
    for (let part = from; part < to; part = next) {
      const n = part / tileRows;
      next = min(min(to, part + stretch), (n + 1) * tileRows);
      const tile = images + <usize>((part - from) * tileColumns * imageRow) * 4;
      for (let c = 0; c < depth; c += 4) {
        const planes = at(x, (n * depth + c) * plane);
        const row = part - n * tileRows;
        transformTiles(planes, min(4, depth - c), row, row + next - part, at(tile, c), imagePoint, <usize>imageRow << 2);
      }
    }
    for (let filter = 0; filter < rows; filter += filterBlock) {
      const filterCount = min(filterBlock, rows - filter);
      const columns = roundUp(filterCount, TILE_COLUMNS);
      for (let channel = 0; channel < depth; channel += channelBlock) {
        const channelCount = min(channelBlock, depth - channel);
        const weightPoint = pointBytes(channelCount, columns);
        if (!fits) transformFilters(first + filter, filterCount, channel, channelCount, weightPoint);
        for (let point = 0; point < POINTS; point++) {
          multiplyPoint(
            at(images + <usize>point * imagePoint, channel),
            <usize>imageRow << 2,
            4,
            count,
            scratch + <usize>point * weightPoint,
            <usize>columns << 2,
            channelCount,
            sums + <usize>point * sumPoint,
            <usize>sumRow << 2,
            columns,
            channel > 0 ? TILE_ACCUMULATE : 0,
          );
        }
      }
      for (let part = from; part < to; part = next) {
        const n = part / tileRows;
        next = min(to, (n + 1) * tileRows);
        const row = part - n * tileRows;
        const tile = sums + <usize>((part - from) * tileColumns * sumRow) * 4;
        const planes = n * allRows + first + filter;
        for (let f = 0; f < filterCount; f += 4) {
          const target = at(y, (planes + f) * resultPlane);
          finishTiles(at(tile, f), sumPoint, <usize>sumRow << 2, row, row + next - part, target, min(4, filterCount - f));
        }
        const begin = row * STEP * resultWidth;
        const size = min(resultHeight, (row + next - part) * STEP) * resultWidth - begin;
        for (let f = 0; f < filterCount; f++) {
          const offset = (planes + f) * resultPlane + begin;
          const own = bias != 0 ? at(bias, first + filter + f) : 0;
          finishImage(at(y, offset), 1, size, own, saved != 0 ? at(saved, offset) : 0, activation, slope);
        }
      }
    }
  }
}

/**
 * This thread's share of y [batch, rows, …] = x [batch, depth, …] by the filters described: whole images, or where there are fewer than
 * threads some of the filters, or some rows of tiles. A result is the same sum whoever computes it.
 */
export function convolveByTransforms(x: usize, depth: i32, y: usize, rows: i32, slope: v128, thread: i32, threads: i32): void {
  let first = 0;
  let last = rows;
  let start = 0;
  let end = batch * tileRows;
  const few = batch < threads;
  if (few && rows >= threads * TILE_COLUMNS) {
    first = shareStart(rows, TILE_COLUMNS, thread, threads);
    last = shareStart(rows, TILE_COLUMNS, thread + 1, threads);
  } else {
    const grain = few ? 1 : tileRows;
    start = shareStart(end, grain, thread, threads);
    end = shareStart(batch * tileRows, grain, thread + 1, threads);
  }
  if (start < end && first < last) convolveTiles(x, depth, y, rows, first, last - first, start, end, slope);
}
