// AssemblyScript: max pooling. Threads share the planes.

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

export function max_pool(args: usize, thread: i32, threads: i32, step: i32): void {
  readPooling(args, 2);
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const end = shareStart(planes, 1, thread + 1, threads);
  for (let plane = shareStart(planes, 1, thread, threads); plane < end; plane++) {
    const source = at(x, plane * height * width);
    const target = at(y, plane * pooledHeight * pooledWidth);
    for (let i = 0; i < pooledHeight; i++) {
      const row = at(target, i * pooledWidth);
      if (isHalving()) halveRow(at(source, 2 * i * width), row);
      else poolRow(source, i, row);
    }
  }
}

/** One row of the output from two of the input, four elements at a time. */
function halveRow(source: usize, target: usize): void {
  const below = at(source, width);
  let j = 0;
  for (; j + 4 <= pooledWidth; j += 4) {
    const left = f32x4.max(v128.load(at(source, 2 * j)), v128.load(at(below, 2 * j)));
    const right = f32x4.max(v128.load(at(source, 2 * j + 4)), v128.load(at(below, 2 * j + 4)));
    const even = v128.shuffle<f32>(left, right, 0, 2, 4, 6);
    v128.store(at(target, j), f32x4.max(even, v128.shuffle<f32>(left, right, 1, 3, 5, 7)));
  }
  for (; j < pooledWidth; j++) {
    const upper = max(load<f32>(at(source, 2 * j)), load<f32>(at(source, 2 * j + 1)));
    store<f32>(at(target, j), max(upper, max(load<f32>(at(below, 2 * j)), load<f32>(at(below, 2 * j + 1)))));
  }
}

function poolRow(source: usize, i: i32, target: usize): void {
  const firstRow = windowStart(i);
  const lastRow = windowEnd(i, windowHeight, height);
  for (let j = 0; j < pooledWidth; j++) {
    const lastColumn = windowEnd(j, windowWidth, width);
    let largest: f32 = -Infinity;
    for (let row = firstRow; row < lastRow; row++) {
      for (let column = windowStart(j); column < lastColumn; column++) {
        largest = max(largest, load<f32>(at(source, row * width + column)));
      }
    }
    store<f32>(at(target, j), largest);
  }
}
