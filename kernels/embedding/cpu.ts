// AssemblyScript: one row of the table for each code; threads share the batch.

import { codeAt } from '../shared/codes';
import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function embedding(args: usize, thread: i32, threads: i32, step: i32): void {
  const table = pointer(args, 0);
  const codes = pointer(args, 1);
  const y = pointer(args, 2);
  const batch = integer(args, 3);
  const vocabulary = integer(args, 4);
  const width = integer(args, 5);
  const codesWidth = integer(args, 6);
  const codesColumn = integer(args, 7);
  const end = shareStart(batch, 1, thread + 1, threads);
  for (let i = shareStart(batch, 1, thread, threads); i < end; i++) {
    const row = codeAt(codes, i * codesWidth + codesColumn, vocabulary);
    copy(at(y, i * width), at(table, row * width), width);
  }
}
