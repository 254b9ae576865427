// AssemblyScript: the gradient of the weight of a 3 × 3 convolution by Winograd's transforms, as native/winograd_weights.h: at each of 36
// points the products of transformed tiles of x, [tile][channel], with transformed tiles of dy, [tile][filter], summed over the tiles of
// all images. Threads share channels and filters; the blocks of tiles follow from the shape alone, so every sum has one order.

import { batch, channels, filters } from './conv_shape';
import {
  imageHeight,
  imageWidth,
  LINE,
  mostTileRows,
  multiplyPoint,
  PIXELS,
  pointBytes,
  resultHeight,
  resultWidth,
  roundUp,
  rowsOfBlock,
  spreadRow,
  tileColumns,
  tileRows,
  TILES,
  transformTiles,
  WEIGHT_BLOCK,
} from './conv_tiling';
import { TILE_ADD, TILE_COLUMNS } from './gemm_tile';
import { scratch } from './scratch';
import { at, shareStart } from './vectors';
import { finishWeights, POINTS, SIDE, STEP, transformGradients, VECTOR } from './winograd';

/** Channels of the least share of a thread: the lanes of a vector. */
const LEAST_SHARE = 4;

/** Transformed gradients of the results in the rows of tiles first … last of one image, for up to four filters. */
function transformResults(planes: usize, lanes: i32, first: i32, last: i32, to: usize, point: usize, row: usize): void {
  const columns = tileColumns * STEP;
  const lineBytes = <usize>columns * VECTOR;
  const pixels = scratch + PIXELS;
  const line = scratch + LINE;
  const planeBytes = <usize>(resultHeight * resultWidth) << 2;
  for (let tileRow = first; tileRow < last; tileRow++) {
    for (let i = 0; i < STEP; i++) {
      const y = tileRow * STEP + i;
      const target = pixels + <usize>i * lineBytes;
      if (y >= resultHeight) {
        memory.fill(target, 0, lineBytes);
        continue;
      }
      spreadRow(at(planes, y * resultWidth), planeBytes, lanes, resultWidth, target);
      for (let x = resultWidth; x < columns; x++) memory.fill(target + <usize>x * VECTOR, 0, VECTOR);
    }
    transformGradients(pixels, lineBytes, VECTOR, line, lineBytes, VECTOR, columns);
    for (let i = 0; i < SIDE; i++) {
      const target = to + <usize>(i * SIDE) * point;
      transformGradients(line + <usize>i * lineBytes, VECTOR, STEP * VECTOR, target, point, row, tileColumns);
    }
    to += <usize>tileColumns * row;
  }
}

/** dw of a block of filters and channels, from its sums at the points: [point][channel][filter]. */
function finishFilters(point: usize, stretch: i32, channelCount: i32, filterCount: i32, dw: usize): void {
  const half = scratch + LINE;
  const taps = half + 3 * SIDE * VECTOR;
  for (let c = 0; c < channelCount; c++) {
    for (let f = 0; f < filterCount; f += 4) {
      const from = at(scratch, c * stretch + f);
      for (let i = 0; i < SIDE; i++) {
        finishWeights(from + <usize>(i * SIDE) * point, point, half + <usize>i * VECTOR, SIDE * VECTOR);
      }
      for (let j = 0; j < 3; j++) {
        finishWeights(half + <usize>(j * SIDE) * VECTOR, VECTOR, taps + <usize>j * VECTOR, 3 * VECTOR);
      }
      for (let lane = 0; lane < min(4, filterCount - f); lane++) {
        const to = at(dw, ((f + lane) * channels + c) * 9);
        for (let tap = 0; tap < 9; tap++) store<f32>(at(to, tap), load<f32>(at(taps, 4 * tap + lane)));
      }
    }
  }
}

/** dw for this thread's share: some channels, and of those that are too few for the threads some filters. */
export function weightGradientByTransforms(x: usize, dy: usize, dw: usize, thread: i32, threads: i32): void {
  const shares = roundUp(channels, LEAST_SHARE) / LEAST_SHARE;
  const parts = max(1, min(threads / shares, roundUp(filters, TILE_COLUMNS) / TILE_COLUMNS));
  const across = threads / parts;
  if (thread >= across * parts) return;
  const firstChannel = shareStart(channels, LEAST_SHARE, thread / parts, across);
  const lastChannel = shareStart(channels, LEAST_SHARE, thread / parts + 1, across);
  const firstFilter = shareStart(filters, TILE_COLUMNS, thread % parts, parts);
  const lastFilter = shareStart(filters, TILE_COLUMNS, (thread % parts) + 1, parts);
  for (let channel = firstChannel; channel < lastChannel; channel += WEIGHT_BLOCK) {
    for (let filter = firstFilter; filter < lastFilter; filter += WEIGHT_BLOCK) {
      const channelCount = min(WEIGHT_BLOCK, lastChannel - channel);
      sumBlock(x, dy, dw, channel, channelCount, filter, min(WEIGHT_BLOCK, lastFilter - filter));
    }
  }
}

function sumBlock(x: usize, dy: usize, dw: usize, channel: i32, channelCount: i32, filter: i32, filterCount: i32): void {
  const plane = imageHeight * imageWidth;
  const resultPlane = resultHeight * resultWidth;
  const block = min(rowsOfBlock(min(WEIGHT_BLOCK, channels), min(WEIGHT_BLOCK, filters)), batch * tileRows);
  const most = block * tileColumns;
  const imageRow = roundUp(channelCount, 4);
  const imagePoint = pointBytes(most, imageRow);
  const columns = roundUp(filterCount, TILE_COLUMNS);
  const gradientPoint = pointBytes(most, columns);
  const images = scratch + TILES;
  const gradients = images + POINTS * imagePoint;
  const sumPoint = pointBytes(channelCount, columns);
  const stretch = mostTileRows();
  for (let from = 0; from < batch * tileRows; from += block) {
    const to = min(batch * tileRows, from + block);
    let next = from;
    for (let part = from; part < to; part = next) {
      const n = part / tileRows;
      const row = part - n * tileRows;
      const tile = (part - from) * tileColumns;
      next = min(min(to, part + stretch), (n + 1) * tileRows);
      for (let c = 0; c < channelCount; c += 4) {
        const target = at(images, tile * imageRow + c);
        const planes = at(x, (n * channels + channel + c) * plane);
        transformTiles(planes, min(4, channelCount - c), row, row + next - part, target, imagePoint, <usize>imageRow << 2);
      }
      for (let f = 0; f < columns; f += 4) {
        const target = at(gradients, tile * columns + f);
        const planes = at(dy, (n * filters + filter + f) * resultPlane);
        const lanes = max(0, min(4, filterCount - f));
        transformResults(planes, lanes, row, row + next - part, target, gradientPoint, <usize>columns << 2);
      }
    }
    for (let point = 0; point < POINTS; point++) {
      multiplyPoint(
        images + <usize>point * imagePoint,
        4,
        <usize>imageRow << 2,
        channelCount,
        gradients + <usize>point * gradientPoint,
        <usize>columns << 2,
        (to - from) * tileColumns,
        scratch + <usize>point * sumPoint,
        <usize>columns << 2,
        columns,
        from > 0 ? TILE_ADD : 0,
      );
    }
  }
  finishFilters(sumPoint, columns, channelCount, filterCount, at(dw, (filter * channels + channel) * 9));
}
