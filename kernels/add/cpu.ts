// AssemblyScript: c = a + b, in one pass over this thread's share of the elements.

import { integer, LINE, pointer, read, shareStart, write } from '../shared/vectors';

export function add(args: usize, thread: i32, threads: i32, step: i32): void {
  const a = pointer(args, 0);
  const b = pointer(args, 1);
  const c = pointer(args, 2);
  const count = integer(args, 3);
  const end = shareStart(count, LINE, thread + 1, threads);
  let i = shareStart(count, LINE, thread, threads);
  for (; i + 4 <= end; i += 4) addVector(a, b, c, i, 4);
  if (i < end) addVector(a, b, c, i, end - i);
}

@inline
function addVector(a: usize, b: usize, c: usize, i: i32, lanes: i32): void {
  write(c, i, f32x4.add(read(a, i, lanes), read(b, i, lanes)), lanes);
}
