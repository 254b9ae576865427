// AssemblyScript: gradient of average pooling. Threads share the planes; windows add up in row-major order.

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
import { at, pointer, shareStart, write } from '../shared/vectors';

export function average_pool_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  readPooling(args, 2);
  const dy = pointer(args, 0);
  const dx = pointer(args, 1);
  const size = height * width;
  const area = <f32>(windowHeight * windowWidth);
  const end = shareStart(planes, 1, thread + 1, threads);
  for (let plane = shareStart(planes, 1, thread, threads); plane < end; plane++) {
    const target = at(dx, plane * size);
    if (isGlobal()) {
      const gradient = f32x4.splat(load<f32>(at(dy, plane)) / area);
      for (let i = 0; i < size; i += 4) write(target, i, gradient, size - i);
      continue;
    }
    memory.fill(target, 0, (<usize>size) << 2);
    const gradients = at(dy, plane * pooledHeight * pooledWidth);
    for (let i = 0; i < pooledHeight; i++) {
      for (let j = 0; j < pooledWidth; j++) {
        spread(target, i, j, load<f32>(at(gradients, i * pooledWidth + j)) / area);
      }
    }
  }
}

function spread(target: usize, i: i32, j: i32, gradient: f32): void {
  const lastRow = windowEnd(i, windowHeight, height);
  const lastColumn = windowEnd(j, windowWidth, width);
  for (let row = windowStart(i); row < lastRow; row++) {
    for (let column = windowStart(j); column < lastColumn; column++) {
      const element = at(target, row * width + column);
      store<f32>(element, load<f32>(element) + gradient);
    }
  }
}
