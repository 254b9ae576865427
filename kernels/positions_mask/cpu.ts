// AssemblyScript: threads share the rows of the batch.

import { tokensOf } from '../shared/tokens';
import { at, integer, pointer, real, shareStart } from '../shared/vectors';

export function positions_mask(args: usize, thread: i32, threads: i32, step: i32): void {
  const lengths = pointer(args, 0);
  const y = pointer(args, 1);
  const batch = integer(args, 2);
  const length = integer(args, 3);
  const inside = real(args, 4);
  const outside = real(args, 5);
  const last = shareStart(batch, 1, thread + 1, threads);
  for (let i = shareStart(batch, 1, thread, threads); i < last; i++) {
    const tokens = tokensOf(lengths, i, length);
    for (let t = 0; t < length; t++) store<f32>(at(y, i * length + t), t < tokens ? inside : outside);
  }
}
