// AssemblyScript: partial sums of squares. Threads share the chunks; the sum of a chunk has one order, whoever computes it.

import { sumSquaredDifferences } from '../shared/sums';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function sum_squares(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const partials = pointer(args, 1);
  const count = integer(args, 2);
  const chunks = integer(args, 3);
  const end = shareStart(chunks, 1, thread + 1, threads);
  for (let chunk = shareStart(chunks, 1, thread, threads); chunk < end; chunk++) {
    const first = chunkStart(chunk, count, chunks);
    const length = chunkStart(chunk + 1, count, chunks) - first;
    store<f32>(at(partials, chunk), sumSquaredDifferences(at(x, first), length, 0));
  }
}

/** ⌊chunk·count/chunks⌋ */
@inline
function chunkStart(chunk: i32, count: i32, chunks: i32): i32 {
  return <i32>((<i64>chunk * <i64>count) / <i64>chunks);
}
