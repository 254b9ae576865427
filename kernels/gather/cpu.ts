// AssemblyScript: copies slices by number; threads share the slices of y.

import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function gather(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const indices = pointer(args, 1);
  const y = pointer(args, 2);
  const outer = integer(args, 3);
  const size = integer(args, 4);
  const inner = integer(args, 5);
  const count = integer(args, 6);
  const end = shareStart(outer * count, 1, thread + 1, threads);
  for (let i = shareStart(outer * count, 1, thread, threads); i < end; i++) {
    const index = <i32>min(load<u32>(at(indices, i % count)), <u32>(size - 1));
    copy(at(y, i * inner), at(x, ((i / count) * size + index) * inner), inner);
  }
}
