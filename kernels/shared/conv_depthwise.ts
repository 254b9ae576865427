// AssemblyScript: depthwise convolution, plane by plane and tap by tap: each tap adds a shifted, scaled copy of one plane to
// another, row by row. Tables of products would be one row high here.

import { dilation, kernel, height, outputHeight, outputWidth, padding, stride, width } from './conv_shape';
import { multiplyAdd } from './math';
import { sumProduct } from './sums';
import { at, read, write } from './vectors';

/** Output columns [firstColumn, lastColumn) whose tap lies inside the image, and where the first of them reads. */
let firstColumn: i32 = 0;
let lastColumn: i32 = 0;

/** Positions i with 0 ≤ i·stride + offset < size: the first of them. */
@inline
function firstInside(offset: i32): i32 {
  return offset >= 0 ? 0 : (-offset + stride - 1) / stride;
}

/** One past the last of them, at most `count`. */
@inline
function endInside(offset: i32, size: i32, count: i32): i32 {
  return size - 1 - offset < 0 ? 0 : min(count, (size - 1 - offset) / stride + 1);
}

function findColumns(offset: i32): void {
  firstColumn = firstInside(offset);
  lastColumn = max(firstColumn, endInside(offset, width, outputWidth));
}

/** y ← Σ taps · x for one plane. */
export function depthwiseForward(x: usize, w: usize, y: usize): void {
  memory.fill(y, 0, (<usize>(outputHeight * outputWidth)) << 2);
  for (let tap = 0; tap < kernel * kernel; tap++) {
    const rowOffset = (tap / kernel) * dilation - padding;
    const columnOffset = (tap % kernel) * dilation - padding;
    const weight = load<f32>(at(w, tap));
    findColumns(columnOffset);
    const count = lastColumn - firstColumn;
    const end = endInside(rowOffset, height, outputHeight);
    for (let row = firstInside(rowOffset); row < end; row++) {
      const source = at(x, (row * stride + rowOffset) * width + firstColumn * stride + columnOffset);
      const target = at(y, row * outputWidth + firstColumn);
      if (stride == 1) {
        addScaled(target, source, weight, count);
      } else {
        for (let i = 0; i < count; i++) {
          store<f32>(at(target, i), load<f32>(at(target, i)) + weight * load<f32>(at(source, i * stride)));
        }
      }
    }
  }
}

/** dx ← Σ taps · dy for one plane: the same rows and columns, the other way round. */
export function depthwiseBackward(dy: usize, w: usize, dx: usize): void {
  memory.fill(dx, 0, (<usize>(height * width)) << 2);
  for (let tap = 0; tap < kernel * kernel; tap++) {
    const rowOffset = (tap / kernel) * dilation - padding;
    const columnOffset = (tap % kernel) * dilation - padding;
    const weight = load<f32>(at(w, tap));
    findColumns(columnOffset);
    const count = lastColumn - firstColumn;
    const end = endInside(rowOffset, height, outputHeight);
    for (let row = firstInside(rowOffset); row < end; row++) {
      const target = at(dx, (row * stride + rowOffset) * width + firstColumn * stride + columnOffset);
      const source = at(dy, row * outputWidth + firstColumn);
      if (stride == 1) {
        addScaled(target, source, weight, count);
      } else {
        for (let i = 0; i < count; i++) {
          const element = at(target, i * stride);
          store<f32>(element, load<f32>(element) + weight * load<f32>(at(source, i)));
        }
      }
    }
  }
}

/** dw[tap] += Σ x · dy over one plane, for every tap. */
export function depthwiseWeights(x: usize, dy: usize, dw: usize): void {
  for (let tap = 0; tap < kernel * kernel; tap++) {
    const rowOffset = (tap / kernel) * dilation - padding;
    const columnOffset = (tap % kernel) * dilation - padding;
    findColumns(columnOffset);
    const count = lastColumn - firstColumn;
    const end = endInside(rowOffset, height, outputHeight);
    let total: f32 = 0;
    for (let row = firstInside(rowOffset); row < end; row++) {
      const source = at(x, (row * stride + rowOffset) * width + firstColumn * stride + columnOffset);
      const gradient = at(dy, row * outputWidth + firstColumn);
      if (stride == 1) {
        total += sumProduct(gradient, source, count, 0);
      } else {
        for (let i = 0; i < count; i++) total += load<f32>(at(gradient, i)) * load<f32>(at(source, i * stride));
      }
    }
    store<f32>(at(dw, tap), load<f32>(at(dw, tap)) + total);
  }
}

/** target += weight · source */
function addScaled(target: usize, source: usize, weight: f32, count: i32): void {
  const factor = f32x4.splat(weight);
  let i = 0;
  for (; i + 4 <= count; i += 4) write(target, i, multiplyAdd(factor, read(source, i, 4), read(target, i, 4)), 4);
  if (i < count) {
    const lanes = count - i;
    write(target, i, multiplyAdd(factor, read(source, i, lanes), read(target, i, lanes)), lanes);
  }
}
