// AssemblyScript: copies a band of columns; threads share the rows.

import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function copy_columns(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const rows = integer(args, 2);
  const columns = integer(args, 3);
  const sourceWidth = integer(args, 4);
  const sourceOffset = integer(args, 5);
  const targetWidth = integer(args, 6);
  const targetOffset = integer(args, 7);
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    copy(at(y, row * targetWidth + targetOffset), at(x, row * sourceWidth + sourceOffset), columns);
  }
}
