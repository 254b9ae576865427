// AssemblyScript: y[step·count + i] = x[i].

import { at, copy, integer, LINE, pointer, shareStart } from '../shared/vectors';

export function store_rows(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const count = integer(args, 2);
  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  copy(at(y, step * count + start), at(x, start), end - start);
}
