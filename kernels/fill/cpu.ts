// AssemblyScript: y = value.

import { integer, LINE, pointer, real, shareStart, write } from '../shared/vectors';

export function fill(args: usize, thread: i32, threads: i32, step: i32): void {
  const y = pointer(args, 0);
  const count = integer(args, 1);
  const value = f32x4.splat(real(args, 2));
  const end = shareStart(count, LINE, thread + 1, threads);
  let i = shareStart(count, LINE, thread, threads);
  for (; i + 4 <= end; i += 4) write(y, i, value, 4);
  if (i < end) write(y, i, value, end - i);
}
