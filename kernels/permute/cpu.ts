// AssemblyScript: a copy in another order of dimensions. Threads share the elements of y; a row (the last dimension) is one copy
// where it lies in one piece in x as well.

import { elementsOf, stridedOffset } from '../shared/sizes';
import { at, copy, integer, LINE, pointer, shareStart } from '../shared/vectors';

const SIZES = 2;
const STRIDES = 8;

export function permute(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const width = integer(args, SIZES + 5);
  const stride = integer(args, STRIDES + 5);
  const count = elementsOf(args, SIZES, 6);
  const end = shareStart(count, LINE, thread + 1, threads);
  let i = shareStart(count, LINE, thread, threads);
  while (i < end) {
    const row = i / width;
    const column = i - row * width;
    const length = min(width - column, end - i);
    const source = at(x, stridedOffset(args, SIZES, STRIDES, row) + column * stride);
    if (stride == 1) copy(at(y, i), source, length);
    else gatherStrided(at(y, i), source, length, (<usize>stride) << 2);
    i += length;
  }
}

function gatherStrided(target: usize, source: usize, count: i32, stride: usize): void {
  for (let i = 0; i < count; i++) {
    store<f32>(at(target, i), load<f32>(source));
    source += stride;
  }
}
