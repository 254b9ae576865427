// AssemblyScript: threads share the positions of the batch.

import { at, copy, integer, pointer, read, shareStart, write } from '../shared/vectors';

export function rotary(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const table = pointer(args, 1);
  const y = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const width = integer(args, 5);
  const heads = integer(args, 6);
  const size = integer(args, 7);
  const inverse = integer(args, 8);
  const half = size >> 1;
  const last = shareStart(batch * length, 1, thread + 1, threads);
  for (let position = shareStart(batch * length, 1, thread, threads); position < last; position++) {
    const turns = at(table, (position % length) * size);
    const start = position * width;
    for (let head = 0; head < heads; head++) {
      turn(at(x, start + head * size), turns, at(y, start + head * size), half, inverse != 0);
    }
    const turned = heads * size;
    copy(at(y, start + turned), at(x, start + turned), width - turned);
  }
}

/** The pairs of one head. */
function turn(x: usize, turns: usize, y: usize, half: i32, inverse: bool): void {
  for (let d = 0; d < half; d += 4) {
    const lanes = half - d;
    const cos = read(turns, d, lanes);
    const sin = inverse ? f32x4.neg(read(turns, half + d, lanes)) : read(turns, half + d, lanes);
    const a = read(x, d, lanes);
    const b = read(x, half + d, lanes);
    write(y, d, f32x4.sub(f32x4.mul(a, cos), f32x4.mul(b, sin)), lanes);
    write(y, half + d, f32x4.add(f32x4.mul(b, cos), f32x4.mul(a, sin)), lanes);
  }
}
