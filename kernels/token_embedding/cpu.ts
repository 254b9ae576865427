// AssemblyScript: one row of the table for each token; threads share the positions.

import { tokenAt } from '../shared/tokens';
import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function token_embedding(args: usize, thread: i32, threads: i32, step: i32): void {
  const table = pointer(args, 0);
  const codes = pointer(args, 1);
  const y = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const vocabulary = integer(args, 5);
  const width = integer(args, 6);
  const codesWidth = integer(args, 7);
  const codesColumn = integer(args, 8);
  const pairs = integer(args, 9);
  const end = shareStart(batch * length, 1, thread + 1, threads);
  for (let i = shareStart(batch * length, 1, thread, threads); i < end; i++) {
    const t = i % length;
    const place = (i / length) * codesWidth + codesColumn + t;
    const row = tokenAt(codes, place, vocabulary, pairs, t == length - 1);
    if (row < 0) memory.fill(at(y, i * width), 0, (<usize>width) << 2);
    else copy(at(y, i * width), at(table, row * width), width);
  }
}
