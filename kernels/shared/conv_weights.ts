// AssemblyScript: the product of a convolution's weight gradient, transposed: sums[(channel, tap), filter] over all images and
// positions. Threads share the rows, so every weight is summed by one thread, image by image in order; sums stand in scratch
// memory until they are complete and are then turned round into dw.

import { addTap, affordableChannels, copyRow, describeSource, openBlock, SOURCE_SCRATCH } from './conv_source';
import {
  batch,
  channels,
  dilation,
  filters,
  groups,
  height,
  kernel,
  outputHeight,
  outputWidth,
  padding,
  stride,
  width,
} from './conv_shape';
import { packColumns, PANEL_ROW_BYTES } from './gemm_pack';
import { SMALL_TILE_ROWS, tile4, tile6, TILE_ACCUMULATE, TILE_COLUMNS, TILE_ROWS } from './gemm_tile';
import { scratch } from './scratch';
import { at, shareStart } from './vectors';

/** Positions of a block, and filters of a block. */
const BLOCK_POSITIONS = 128;
const BLOCK_FILTERS = 256;
/** Floats of the sums. */
const SUM_FLOATS = 54784;

const GRADIENTS: usize = SOURCE_SCRATCH;
const ROWS: usize = GRADIENTS + BLOCK_POSITIONS * BLOCK_FILTERS * 4;
const SUMS: usize = ROWS + TILE_ROWS * BLOCK_POSITIONS * 4;

/** dw for this thread's share of the rows of every group. */
export function weightGradient(x: usize, dy: usize, dw: usize, thread: i32, threads: i32): void {
  const area = kernel * kernel;
  const groupChannels = channels / groups;
  const groupFilters = filters / groups;
  const depth = groupChannels * area;
  const start = shareStart(depth, 1, thread, threads);
  const end = shareStart(depth, 1, thread + 1, threads);
  describeSource(height, width, stride, outputWidth);
  for (let tap = 0; tap < area; tap++) {
    addTap((tap / kernel) * dilation - padding, (tap % kernel) * dilation - padding, tap);
  }
  for (let group = 0; group < groups; group++) {
    const gradients = at(dw, group * groupFilters * depth);
    for (let filter = 0; filter < groupFilters; filter += BLOCK_FILTERS) {
      const count = min(BLOCK_FILTERS, groupFilters - filter);
      const stretch = (count + TILE_COLUMNS - 1) & ~(TILE_COLUMNS - 1);
      const most = SUM_FLOATS / stretch;
      for (let row = start; row < end; row += most) {
        sumBlock(x, dy, group, row, min(end, row + most), filter, count, stretch);
        for (let r = row; r < min(end, row + most); r++) {
          const sums = at(scratch + SUMS, (r - row) * stretch);
          for (let j = 0; j < count; j++) {
            store<f32>(at(gradients, (filter + j) * depth + r), load<f32>(at(sums, j)));
          }
        }
      }
    }
  }
}

/** The sums of the rows rowStart … rowEnd and of `count` filters from `filter` on; a row of them has `stretch` floats. */
function sumBlock(
  x: usize,
  dy: usize,
  group: i32,
  rowStart: i32,
  rowEnd: i32,
  filter: i32,
  count: i32,
  stretch: i32,
): void {
  const area = kernel * kernel;
  const positions = outputHeight * outputWidth;
  const groupFilters = filters / groups;
  const firstChannel = rowStart / area;
  const lastChannel = (rowEnd - 1) / area;
  const planeBytes = (<usize>positions) << 2;
  memory.fill(scratch + SUMS, 0, (<usize>((rowEnd - rowStart) * stretch)) << 2);
  for (let n = 0; n < batch; n++) {
    const image = at(x, (n * channels + group * (channels / groups)) * height * width);
    const gradient = at(dy, (n * filters + group * groupFilters + filter) * positions);
    for (let start = 0; start < positions; start += BLOCK_POSITIONS) {
      const length = min(BLOCK_POSITIONS, positions - start);
      for (let column = 0; column < count; column += TILE_COLUMNS) {
        const from = at(gradient, column * positions + start);
        const columns = min(TILE_COLUMNS, count - column);
        packColumns(from, 4, planeBytes, length, columns, at(scratch + GRADIENTS, column * length));
      }
      const most = affordableChannels(length);
      for (let channel = firstChannel; channel <= lastChannel; channel += most) {
        const end = min(lastChannel + 1, channel + most);
        openBlock(at(image, channel * height * width), end - channel, start, start + length);
        const from = max(rowStart, channel * area);
        addProducts(from, min(rowEnd, end * area), channel, rowStart, start, length, count, stretch);
      }
    }
  }
}

/** sums[row, ·] += source[row, positions] · gradients[positions, ·] for the rows from … to of the open block. */
function addProducts(
  from: i32,
  to: i32,
  channel: i32,
  rowStart: i32,
  start: i32,
  length: i32,
  count: i32,
  stretch: i32,
): void {
  const area = kernel * kernel;
  const a = scratch + ROWS;
  const aRow = (<usize>length) << 2;
  const sumRow = (<usize>stretch) << 2;
  let row = from;
  while (row < to) {
    const left = to - row;
    const small = left <= SMALL_TILE_ROWS || left == 2 * SMALL_TILE_ROWS;
    const height = min(small ? SMALL_TILE_ROWS : TILE_ROWS, left);
    for (let i = 0; i < height; i++) {
      copyRow((row + i) / area - channel, (row + i) % area, start, length, at(a, i * length));
    }
    for (let column = 0; column < count; column += TILE_COLUMNS) {
      const panel = at(scratch + GRADIENTS, column * length);
      const sums = at(scratch + SUMS, (row - rowStart) * stretch + column);
      if (small) {
        tile4(a, aRow, 4, panel, PANEL_ROW_BYTES, length, sums, sumRow, height, 0, TILE_ACCUMULATE);
      } else {
        tile6(a, aRow, 4, panel, PANEL_ROW_BYTES, length, sums, sumRow, height, 0, TILE_ACCUMULATE);
      }
    }
    row += height;
  }
}
