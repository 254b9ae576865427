// AssemblyScript: average pooling. Threads share the planes.

import {
  height,
  isGlobal,
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
import { sum } from '../shared/sums';
import { at, pointer, shareStart } from '../shared/vectors';

export function average_pool(args: usize, thread: i32, threads: i32, step: i32): void {
  readPooling(args, 2);
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const area = <f32>(windowHeight * windowWidth);
  const end = shareStart(planes, 1, thread + 1, threads);
  for (let plane = shareStart(planes, 1, thread, threads); plane < end; plane++) {
    const source = at(x, plane * height * width);
    if (isGlobal()) {
      store<f32>(at(y, plane), sum(source, height * width) / area);
      continue;
    }
    for (let i = 0; i < pooledHeight; i++) {
      const target = at(y, (plane * pooledHeight + i) * pooledWidth);
      for (let j = 0; j < pooledWidth; j++) store<f32>(at(target, j), windowSum(source, i, j) / area);
    }
  }
}

function windowSum(source: usize, i: i32, j: i32): f32 {
  const lastRow = windowEnd(i, windowHeight, height);
  const lastColumn = windowEnd(j, windowWidth, width);
  let total: f32 = 0;
  for (let row = windowStart(i); row < lastRow; row++) {
    for (let column = windowStart(j); column < lastColumn; column++) {
      total += load<f32>(at(source, row * width + column));
    }
  }
  return total;
}
