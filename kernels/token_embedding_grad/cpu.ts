// AssemblyScript: gradient of a table of tokens. Each thread owns some rows of the table, clears them, and goes through the
// whole batch for the rows of dy that belong there: no two threads add to one row, and the order is that of the batch.

import { addRow } from '../shared/columns';
import { tokenAt } from '../shared/tokens';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function token_embedding_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const codes = pointer(args, 1);
  const dtable = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const vocabulary = integer(args, 5);
  const width = integer(args, 6);
  const codesWidth = integer(args, 7);
  const codesColumn = integer(args, 8);
  const pairs = integer(args, 9);
  const start = shareStart(vocabulary, 1, thread, threads);
  const end = shareStart(vocabulary, 1, thread + 1, threads);
  memory.fill(at(dtable, start * width), 0, (<usize>((end - start) * width)) << 2);
  for (let i = 0; i < batch; i++) {
    const first = i * codesWidth + codesColumn;
    for (let t = 0; t < length; t++) {
      const row = tokenAt(codes, first + t, vocabulary, pairs, t == length - 1);
      if (row >= start && row < end) addRow(at(dtable, row * width), at(dy, (i * length + t) * width), width);
    }
  }
}
