// AssemblyScript: collects, augments and normalises the images of a step. Threads share the images. Images that are only shifted
// and mirrored go row by row; turned, zoomed or recoloured ones pixel by pixel. kernels/draws.ts says what is drawn.

import { codeAt } from '../shared/codes';
import {
  brightness,
  contrast,
  coverLeft,
  coverTop,
  cutout,
  drawImage,
  isColoured,
  isTurned,
  mirrored,
  readLimits,
  saturation,
  shiftColumns,
  shiftRows,
  sourceColumn,
  sourceRow,
} from '../shared/draws';
import { scratch } from '../shared/scratch';
import { at, integer, pointer, shareStart } from '../shared/vectors';

/** The call's shapes. */
let channels: i32 = 0;
let height: i32 = 0;
let width: i32 = 0;
let normalization: usize = 0;

export function gather_images(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const indices = pointer(args, 2);
  normalization = pointer(args, 3);
  const scalars = pointer(args, 4);
  const counter = load<i32>(at(pointer(args, 5), step));
  const batchX = pointer(args, 6);
  channels = integer(args, 9);
  height = integer(args, 10);
  width = integer(args, 11);
  const batch = integer(args, 14);
  readLimits(args, 16, height, width);
  const mixed = integer(args, 26) != 0 && scalars != 0;
  const share: f32 = mixed ? load<f32>(at(scalars, 4 * step + 3)) : 1;
  const size = channels * height * width;
  const end = shareStart(batch, 1, thread + 1, threads);
  for (let i = shareStart(batch, 1, thread, threads); i < end; i++) {
    const target = at(batchX, i * size);
    const row = load<i32>(at(indices, step * batch + i));
    drawImage(i, counter);
    render(x + <usize>row * size, target, share, false);
    if (!mixed) continue;
    const partner = batch - 1 - i;
    const partnerRow = load<i32>(at(indices, step * batch + partner));
    drawImage(partner, counter);
    render(x + <usize>partnerRow * size, target, 1 - share, true);
  }
  if (pointer(args, 1) == 0 || pointer(args, 7) == 0 || thread != 0) return;
  for (let i = 0; i < batch; i++) {
    const row = load<i32>(at(indices, step * batch + i));
    const partner = load<i32>(at(indices, step * batch + batch - 1 - i));
    mixTargets(args, i, row, share, partner, 1 - share);
  }
}

function mixTargets(args: usize, i: i32, row: i32, share: f32, partner: i32, partnerShare: f32): void {
  const y = pointer(args, 1);
  const batchY = pointer(args, 7);
  const targets = integer(args, 12);
  const classes = integer(args, 13);
  if (classes == 0) {
    for (let j = 0; j < targets; j++) {
      const own = load<f32>(at(y, row * targets + j));
      const other = load<f32>(at(y, partner * targets + j));
      store<f32>(at(batchY, i * targets + j), share == 1 ? own : share * own + partnerShare * other);
    }
    return;
  }
  const shares = at(batchY, i * classes);
  for (let j = 0; j < classes; j++) store<f32>(at(shares, j), 0);
  const own = at(shares, codeAt(y, row * targets, classes));
  store<f32>(own, share);
  const other = at(shares, codeAt(y, partner * targets, classes));
  store<f32>(other, load<f32>(other) + partnerShare);
}

/** target ← share · image, added to what is there if `add`. */
function render(image: usize, target: usize, share: f32, add: bool): void {
  if (isTurned() || isColoured()) renderPixels(image, target, share, add);
  else renderRows(image, target, share, add);
  if (!add && cutout > 0) cover(target, 0);
}

/** Shifted and mirrored at most: pixels are read where they stand, beyond the border is the mean, 0. */
function renderRows(image: usize, target: usize, share: f32, add: bool): void {
  for (let channel = 0; channel < channels; channel++) {
    const mean = load<f32>(at(normalization, 2 * channel));
    const deviation = load<f32>(at(normalization, 2 * channel + 1));
    const scale = share / (255 * deviation);
    const shift = (share * mean) / deviation;
    for (let row = 0; row < height; row++) {
      const out = at(target, (channel * height + row) * width);
      const from = row + shiftRows;
      const inside = from >= 0 && from < height;
      const source = image + <usize>((channel * height + (inside ? from : 0)) * width);
      for (let column = 0; column < width; column++) {
        const place = (mirrored ? width - 1 - column : column) + shiftColumns;
        let value: f32 = 0;
        if (inside && place >= 0 && place < width && !(add && isCovered(row, column))) {
          value = <f32>load<u8>(source + <usize>place) * scale - shift;
        }
        if (add) value += load<f32>(at(out, column));
        store<f32>(at(out, column), value);
      }
    }
  }
}

/** Any change: interpolated and recoloured pixel by pixel. */
function renderPixels(image: usize, target: usize, share: f32, add: bool): void {
  const plane = height * width;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const covered = add && isCovered(row, column);
      samplePixel(image, sourceRow(row, column), sourceColumn(row, column));
      for (let channel = 0; channel < channels; channel++) {
        const mean = load<f32>(at(normalization, 2 * channel));
        const deviation = load<f32>(at(normalization, 2 * channel + 1));
        const held = max<f32>(0, min<f32>(1, load<f32>(at(scratch, channel))));
        const out = at(target, channel * plane + row * width + column);
        let value: f32 = covered ? 0 : (share * (held - mean)) / deviation;
        if (add) value += load<f32>(out);
        store<f32>(out, value);
      }
    }
  }
}

/** The recoloured pixel at a place between four neighbours, a channel a float of scratch memory. */
function samplePixel(image: usize, row: f32, column: f32): void {
  const top = <i32>floor<f32>(row);
  const left = <i32>floor<f32>(column);
  const down = row - <f32>top;
  const right = column - <f32>left;
  for (let channel = 0; channel < channels; channel++) {
    const plane = image + <usize>(channel * height * width);
    const mean = load<f32>(at(normalization, 2 * channel));
    const upper = pixelAt(plane, top, left, mean) * (1 - right) + pixelAt(plane, top, left + 1, mean) * right;
    const lower = pixelAt(plane, top + 1, left, mean) * (1 - right) + pixelAt(plane, top + 1, left + 1, mean) * right;
    const sampled = (upper * (1 - down) + lower * down) * brightness;
    store<f32>(at(scratch, channel), (sampled - mean) * contrast + mean);
  }
  if (channels != 3) return;
  const red = load<f32>(scratch);
  const green = load<f32>(scratch, 4);
  const blue = load<f32>(scratch, 8);
  const grey = <f32>0.299 * red + <f32>0.587 * green + <f32>0.114 * blue;
  store<f32>(scratch, grey + (red - grey) * saturation);
  store<f32>(scratch, grey + (green - grey) * saturation, 4);
  store<f32>(scratch, grey + (blue - grey) * saturation, 8);
}

@inline
function pixelAt(plane: usize, row: i32, column: i32, mean: f32): f32 {
  if (row < 0 || row >= height || column < 0 || column >= width) return mean;
  return <f32>load<u8>(plane + <usize>(row * width + column)) * <f32>(1.0 / 255.0);
}

@inline
function isCovered(row: i32, column: i32): bool {
  const inRows = row >= coverTop && row < coverTop + cutout;
  return inRows && column >= coverLeft && column < coverLeft + cutout;
}

/** Sets the covered square of all channels. */
function cover(target: usize, value: f32): void {
  for (let channel = 0; channel < channels; channel++) {
    for (let row = max(0, coverTop); row < min(height, coverTop + cutout); row++) {
      const out = at(target, (channel * height + row) * width);
      for (let column = max(0, coverLeft); column < min(width, coverLeft + cutout); column++) {
        store<f32>(at(out, column), value);
      }
    }
  }
}
