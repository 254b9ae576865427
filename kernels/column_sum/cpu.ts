// AssemblyScript: sums over rows, four columns at a time; threads share the columns, so each sum has the order of the rows.

import { sumColumns } from '../shared/columns';
import { integer, LINE, pointer, shareStart, write } from '../shared/vectors';

export function column_sum(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const rows = integer(args, 2);
  const width = integer(args, 3);
  const end = shareStart(width, LINE, thread + 1, threads);
  for (let j = shareStart(width, LINE, thread, threads); j < end; j += 4) {
    write(y, j, sumColumns(x, rows, width, j, end - j), end - j);
  }
}
