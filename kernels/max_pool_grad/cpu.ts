// AssemblyScript: gradient of max pooling. Threads share the planes; windows add up in row-major order.

import {
  height,
  isHalving,
  planes,
  pooledHeight,
  pooledWidth,
  readPooling,
  width,
  windowEnd,
  windowHeight,
  windowStart,
  windowWidth,
} from '../shared/pool';
import { at, pointer, shareStart } from '../shared/vectors';

export function max_pool_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  readPooling(args, 3);
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const dx = pointer(args, 2);
  const end = shareStart(planes, 1, thread + 1, threads);
  for (let plane = shareStart(planes, 1, thread, threads); plane < end; plane++) {
    const source = at(x, plane * height * width);
    const target = at(dx, plane * height * width);
    const gradients = at(dy, plane * pooledHeight * pooledWidth);
    memory.fill(target, 0, (<usize>(height * width)) << 2);
    for (let i = 0; i < pooledHeight; i++) {
      const row = at(gradients, i * pooledWidth);
      if (isHalving()) spreadRow(at(source, 2 * i * width), row, at(target, 2 * i * width));
      else scatterRow(source, i, row, target);
    }
  }
}

/** Two rows of dx from one of dy, four windows at a time: dy where the element is the first largest of its window, else 0. */
function spreadRow(source: usize, gradients: usize, target: usize): void {
  const below = at(source, width);
  const targetBelow = at(target, width);
  let j = 0;
  for (; j + 4 <= pooledWidth; j += 4) {
    const upperLeft = v128.load(at(source, 2 * j));
    const upperRight = v128.load(at(source, 2 * j + 4));
    const lowerLeft = v128.load(at(below, 2 * j));
    const lowerRight = v128.load(at(below, 2 * j + 4));
    const a = v128.shuffle<f32>(upperLeft, upperRight, 0, 2, 4, 6);
    const b = v128.shuffle<f32>(upperLeft, upperRight, 1, 3, 5, 7);
    const c = v128.shuffle<f32>(lowerLeft, lowerRight, 0, 2, 4, 6);
    const d = v128.shuffle<f32>(lowerLeft, lowerRight, 1, 3, 5, 7);
    const largest = f32x4.max(f32x4.max(a, b), f32x4.max(c, d));
    const isA = f32x4.eq(a, largest);
    const isB = v128.andnot(f32x4.eq(b, largest), isA);
    const upper = v128.or(isA, isB);
    const isC = v128.andnot(f32x4.eq(c, largest), upper);
    const isD = v128.andnot(f32x4.eq(d, largest), v128.or(upper, isC));
    const gradient = v128.load(at(gradients, j));
    const gA = v128.and(gradient, isA);
    const gB = v128.and(gradient, isB);
    const gC = v128.and(gradient, isC);
    const gD = v128.and(gradient, isD);
    v128.store(at(target, 2 * j), v128.shuffle<f32>(gA, gB, 0, 4, 1, 5));
    v128.store(at(target, 2 * j + 4), v128.shuffle<f32>(gA, gB, 2, 6, 3, 7));
    v128.store(at(targetBelow, 2 * j), v128.shuffle<f32>(gC, gD, 0, 4, 1, 5));
    v128.store(at(targetBelow, 2 * j + 4), v128.shuffle<f32>(gC, gD, 2, 6, 3, 7));
  }
  for (; j < pooledWidth; j++) scatter(source, 0, 2, 2 * j, 2 * j + 2, load<f32>(at(gradients, j)), target);
}

function scatterRow(source: usize, i: i32, gradients: usize, target: usize): void {
  const firstRow = windowStart(i);
  const lastRow = windowEnd(i, windowHeight, height);
  for (let j = 0; j < pooledWidth; j++) {
    const lastColumn = windowEnd(j, windowWidth, width);
    scatter(source, firstRow, lastRow, windowStart(j), lastColumn, load<f32>(at(gradients, j)), target);
  }
}

/** Adds a gradient where the first largest element of the window stands. */
function scatter(
  source: usize,
  firstRow: i32,
  lastRow: i32,
  firstColumn: i32,
  lastColumn: i32,
  gradient: f32,
  target: usize,
): void {
  let best = firstRow * width + firstColumn;
  let largest = load<f32>(at(source, best));
  for (let row = firstRow; row < lastRow; row++) {
    for (let column = firstColumn; column < lastColumn; column++) {
      const value = load<f32>(at(source, row * width + column));
      if (value > largest) {
        largest = value;
        best = row * width + column;
      }
    }
  }
  store<f32>(at(target, best), load<f32>(at(target, best)) + gradient);
}
