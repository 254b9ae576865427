// AssemblyScript: tokens of each row; threads share the rows in whole cache lines of the result.

import { at, integer, LINE, pointer, shareStart } from '../shared/vectors';

export function text_lengths(args: usize, thread: i32, threads: i32, step: i32): void {
  const codes = pointer(args, 0);
  const lengths = pointer(args, 1);
  const batch = integer(args, 2);
  const length = integer(args, 3);
  const codesWidth = integer(args, 4);
  const codesColumn = integer(args, 5);
  const end = shareStart(batch, LINE, thread + 1, threads);
  for (let i = shareStart(batch, LINE, thread, threads); i < end; i++) {
    const row = at(codes, i * codesWidth + codesColumn);
    let tokens = length;
    while (tokens > 1 && load<f32>(at(row, tokens - 1)) == 0) tokens--;
    store<f32>(at(lengths, i), <f32>tokens);
  }
}
