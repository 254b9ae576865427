// AssemblyScript: softmax of rows; threads share the rows.

import { exp } from '../shared/math';
import { at, firstLanes, integer, pointer, read, shareStart, sumLanes, write } from '../shared/vectors';

export function softmax(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const rows = integer(args, 2);
  const width = integer(args, 3);
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    softmaxRow(at(x, row * width), at(y, row * width), width);
  }
}

function softmaxRow(x: usize, y: usize, width: i32): void {
  let most = f32x4.splat(load<f32>(x));
  for (let j = 0; j < width; j += 4) most = f32x4.max(most, firstLanes(read(x, j, width - j), width - j, most));
  const largest = max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  );
  let sum = f32x4.splat(0);
  for (let j = 0; j < width; j += 4) {
    const lanes = width - j;
    const e = exp(f32x4.sub(read(x, j, lanes), f32x4.splat(largest)));
    sum = f32x4.add(sum, firstLanes(e, lanes, f32x4.splat(0)));
    write(y, j, e, lanes);
  }
  const scale = f32x4.splat(<f32>1 / sumLanes(sum));
  for (let j = 0; j < width; j += 4) write(y, j, f32x4.mul(read(y, j, width - j), scale), width - j);
}
